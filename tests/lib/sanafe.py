"""SANA-FE's leaky_integrate_fire, in its arithmetic, on what `coremap export --to sanafe` writes: a spike arrives in the step after, and v is cut to 1/64."""
import re
import subprocess


def network(text):
    """Somas and trains by neuron, targets and weights by source."""
    somas, trains, edges, group = {}, {}, {}, ""
    for line in text.split("mappings:")[0].split("network:")[1].splitlines():
        name, neurons, edge = (re.match(form, line) for form in (r" +- name: (\w+)", r" +- (\d+)(?:\.\.(\d+))?: \[(.*)\]", r" +- (\S+) -> (\S+): \[weight: (\S+)\]"))
        if name:
            group = name.group(1)
        elif edge:
            edges.setdefault(edge.group(1), []).append((edge.group(2), float(edge.group(3))))
        elif neurons:
            for i in range(int(neurons.group(1)), int(neurons.group(2) or neurons.group(1)) + 1):
                told = neurons.group(3)
                if told.startswith("spikes"):
                    trains[f"{group}.{i}"] = [int(bit) for bit in re.findall(r"[01]", told)]
                elif told.startswith("rate"):
                    trains[f"{group}.{i}"] = None
                else:
                    somas[f"{group}.{i}"] = dict(one.split(": ") for one in told.split(", "))
    return somas, trains, edges


def spikes(text, steps):
    """{(step, neuron)} of all neurons but the sources of biases; steps from 0."""
    somas, trains, edges = network(text)
    state = {name: [0.0, 0.0, float(s["leak_decay"]), float(s["input_decay"]), float(s["threshold"]), float(s.get("bias", 0)), s["reset_mode"] == "hard", float(s.get("reset", 0))]
             for name, s in somas.items()}
    arriving, found = {}, set()
    for step in range(steps):
        fired = [name for name, train in trains.items() if train is None or (step < len(train) and train[step])]
        found.update((step, name) for name in fired if trains[name] is not None)
        for name, s in state.items():
            s[1] = s[1] * s[3] + arriving.get(name, 0.0)
            s[0] = int(s[0] * s[2] * 64) / 64 + s[5] + s[1]
            if s[0] > s[4]:
                s[0] = s[7] if s[6] else s[0] - s[4]
                fired.append(name)
                found.add((step, name))
        arriving = {}
        for name in fired:
            for target, weight in edges.get(name, ()):
                arriving[target] = arriving.get(target, 0.0) + weight
    return found


def run(program, yaml, folder, steps):
    """The same by SANA-FE itself, and nanoseconds of each step."""
    subprocess.run([program, "-s", "-p", "-o", folder, yaml, yaml, str(steps)], capture_output=True, text=True, timeout=600, check=True)
    with open(f"{folder}/spikes.csv") as file:
        rows = [line.strip().split(",") for line in file][1:]
    with open(f"{folder}/perf.csv") as file:
        head, *lines = file.read().splitlines()
    time = head.split(",").index("sim_time")
    return {(int(step) - 1, name) for name, step in rows}, [1e9 * float(line.split(",")[time]) for line in lines]
