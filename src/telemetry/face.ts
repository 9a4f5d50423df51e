// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type Bus, createBus } from './bus.ts';
export { logToHost } from './hostLog.ts';
export type { Listener } from './listener.ts';
export { ReaderQueue } from './readerQueue.ts';
