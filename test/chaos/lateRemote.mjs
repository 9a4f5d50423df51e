import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { file, gone } from './killedHost.mjs';

/** The server of late answers by HTTP, on a port that it keeps when it is started again. */
export class LateRemote {
  #journal;
  #child;
  #port = 0;

  constructor(journal) {
    this.#journal = journal;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  async start() {
    this.#child = spawn(process.execPath, [file('lateServer.mjs'), String(this.#port), this.#journal], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(this.#child.stdout, 'data');
    this.#port = Number(String(said).trim().split(' ')[1]);
  }

  kill() {
    return gone(this.#child);
  }
}
