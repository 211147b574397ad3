"""Whether a mapping is legal, by docs/reference/chip-file.md, core-classes.md, neuron-limits.md, populations.md and options.md alone: every limit is
counted anew from the network as it was made and the parts and cores of the mapping. Nothing is shared with what is judged."""


def _relays(fan_in, inputs):
    """ceil((f - F) / (F - 1)) where f > F."""
    return -(-(inputs - fan_in) // (fan_in - 1)) if fan_in and inputs > fan_in else 0


class Use:
    """What one part asks of its core."""
    def __init__(self):
        self.neurons = self.synapses = self.outbound_axons = 0
        self.sources, self.targets, self.populations = set(), set(), set()

    def of(self, name):
        return {"neurons": self.neurons, "synapses": self.synapses, "inbound_axons": len(self.sources), "outbound_axons": self.outbound_axons,
                "target_cores": len(self.targets), "populations_per_core": len(self.populations)}[name]


def _neurons_taken(network, chip, part, outside):
    """Neurons that each counts as on its core: its size, relays and copies with it."""
    limits = chip["limits"]
    fan_in, most = limits.get("fan_in_per_neuron", 0), limits.get("target_cores_per_neuron", 0)
    inputs, reached = [0] * network.count, [set() for _ in range(network.count)]
    for a, row, _ in network.nets:
        reached[a] |= {part[b] for b in row}
        for b in row:
            inputs[b] += 1
    for v in range(network.count):
        size = 0 if v in outside else network.sizes[v] if network.sizes else 1
        copies = -(-len(reached[v]) // most) if most and reached[v] else 1
        yield size * (1 + _relays(fan_in, inputs[v])) * copies


def count(network, chip, part, parts, outside):
    use = [Use() for _ in range(parts)]
    for v, taken in enumerate(_neurons_taken(network, chip, part, outside)):
        use[part[v]].neurons += taken
        if v not in outside:
            use[part[v]].populations.add(network.population_of[v] if network.population_of else 0)
    reached = {}
    for a, row, _ in network.nets:
        for b in row:
            use[part[b]].synapses += 1
            use[part[b]].sources.add(a)
            if part[b] != part[a]:
                reached.setdefault(a, set()).add(part[b])
    for a, others in reached.items():
        use[part[a]].outbound_axons += len(others)
        use[part[a]].targets |= others
    return use


def _covers(listed, x, y):
    return any((c[0] <= x <= c[-2] and c[1] <= y <= c[-1]) if len(c) == 4 else (c[0], c[1]) == (x, y) for c in listed)


def _unfree(chip, occupancy, x, y):
    bx, by = chip["cores_per_router"]
    if _covers(chip.get("dead_cores", []), x, y) or _covers(chip.get("dead_routers", []), x // bx, y // by):
        return "dead"
    if occupancy and _covers(occupancy["broken"], x, y):
        return "broken"
    return "taken" if occupancy and any(_covers(t["cores"], x, y) for t in occupancy["taken"]) else None


def broken(network, chip, size, occupancy, options, mapping):
    """Sentences, none for a legal mapping."""
    part, cores, wrong = mapping["neurons"], mapping["cores"], []
    outside = {v for v in range(network.count) if network.populations and network.populations[network.population_of[v]][1] == "input"} \
        if options.get("inputs") == "outside" else set()
    if len(part) != network.count:
        return [f"{len(part)} neurons are mapped of {network.count}"]
    if sorted(c["part"] for c in cores) != list(range(len(cores))) or not all(0 <= p < len(cores) for p in part):
        return ["parts are not each on one core, or neurons are of none"]
    if len({(c["x"], c["y"]) for c in cores}) < len(cores):
        wrong.append("two parts share a core")
    use = count(network, chip, part, len(cores), outside)
    for core in cores:
        x, y, u = core["x"], core["y"], use[core["part"]]
        where = f"core ({x}, {y}) of part {core['part']}"
        if not (0 <= x < size[0] and 0 <= y < size[1]):
            wrong.append(f"{where} is outside the chip")
        elif _unfree(chip, occupancy, x, y):
            wrong.append(f"{where} is {_unfree(chip, occupancy, x, y)}")
        one = next((k for k in chip.get("core_classes", []) if _covers(k["cores"], x, y)), {})
        limits = one.get("limits", chip["limits"])
        for name in ("neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores", "populations_per_core"):
            if name in limits and u.of(name) > limits[name]:
                wrong.append(f"{where}: {u.of(name)} {name} of {limits[name]}")
        bits = u.neurons * limits.get("bits_per_neuron", 0) + u.synapses * limits.get("bits_per_synapse", 0) + \
            len(u.sources) * limits.get("bits_per_inbound_axon", 0)
        if bits > limits.get("memory_bits", bits):
            wrong.append(f"{where}: {bits} bits of {limits['memory_bits']}")
        if options.get("max_part_size") and u.neurons > options["max_part_size"]:
            wrong.append(f"{where}: {u.neurons} neurons, and max_part_size is {options['max_part_size']}")
        for v in range(network.count) if "labels" in one else ():
            if part[v] == core["part"] and v not in outside and not (network.populations and set(network.populations[network.population_of[v]]) & set(one["labels"])):
                wrong.append(f"{where}: neuron {v}, whose label class {one['name']} does not take")
                break
        wrong += [f"{where} is said to have {core[name]} {name}, and has {u.of(name)}"
                  for name in ("neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores") if core[name] != u.of(name)]
    fixed, at_most = options.get("parts"), options.get("objective") in ("time", "energy", "edp", "pareto", "knee")
    if fixed and (len(cores) > fixed or (len(cores) < fixed and not at_most)):
        wrong.append(f"{len(cores)} parts, and {fixed} were asked for")
    if len(cores) > (options.get("cores") or len(cores)):
        wrong.append(f"{len(cores)} cores, and {options['cores']} were allowed")
    return wrong
