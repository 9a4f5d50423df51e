export { clientScenarios, compareClients, fireClients } from './clients.ts';
export { fire, table, unexplained } from './fire.ts';
export { keptIn } from './kept.ts';
export { abandon, faults } from './round.ts';
export { bare, ownWays, peers } from './ways.ts';
