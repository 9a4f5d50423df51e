import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { file } from './ran.mjs';

/** A server elsewhere, on a port that it has again when it is started again. */
export class RemoteServer {
  #child;
  #port = 0;

  static async start() {
    const remote = new RemoteServer();
    await remote.#start();
    return remote;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  async harm(harm) {
    const child = this.#child;
    await harm([child.pid]);
    await wait(50);
    if (child.signalCode !== null || child.exitCode !== null) await this.#start();
  }

  async #start() {
    this.#child = spawn(process.execPath, [file('remote.mjs'), String(this.#port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(this.#child.stdout, 'data');
    this.#port = Number(String(said).trim().split(' ')[1]);
  }

  kill() {
    this.#child.kill('SIGKILL');
  }
}
