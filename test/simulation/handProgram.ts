// Plays the seeds that it is told to, for `npm run simulate -- --all --jobs N`.
import { playRange, type SeedRange } from './runSeeds.ts';

process.on('message', (range) => void playRange(range as SeedRange).then((played) => process.send?.(played)));
// What a killed life had begun, the client of MCP waits for on timers of its own.
process.on('disconnect', () => process.exit());
