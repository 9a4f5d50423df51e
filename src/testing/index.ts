export { SimulatedClock } from './simulatedClock.ts';
export { seededRandom } from './random.ts';
