// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { MemoryBreakers } from './memoryBreakers.ts';
