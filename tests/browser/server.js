// Starts the daemon on a free port with a data folder of its own, and stops it again.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const START_MS = 120000;

/** `own`: never the server of CM_SERVER_URL. */
export async function startServer({ own = false } = {}) {
  if (process.env.CM_SERVER_URL && !own) return { url: process.env.CM_SERVER_URL, stop: async () => {} };
  const data = mkdtempSync(join(tmpdir(), 'coremapd-pages-'));
  const daemon = spawn(
    join(process.env.CM_BUILD, 'coremapd'),
    ['--listen', '127.0.0.1:0', '--data', data, '--www', join(process.env.CM_SOURCE, 'www')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => {
    daemon.once('exit', resolve);
    daemon.once('error', resolve);
  });
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`coremapd did not say "listening on" within ${START_MS} ms`)),
      START_MS,
    );
    createInterface({ input: daemon.stdout }).on('line', (line) => {
      const found = /listening on (http:\/\/\S+)/.exec(line);
      if (found) resolve(found[1]);
      clearTimeout(late);
    });
    ended.then((reason) => reject(new Error(`coremapd ended at once (${reason})`)));
  });
  return {
    url,
    data,
    stop: async () => {
      daemon.kill('SIGTERM');
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}
