import { setTimeout as passed } from 'node:timers/promises';

/**
 * A moment of real time, also under fake timers. Who looks again and again for what another process does leaves it the processor meanwhile:
 * on two cores a worker that looks at every turn keeps the process that it waits for from going on.
 */
export const moment = (): Promise<void> => passed(5);
