import { fireAgents } from './agents.ts';
import { faults } from './faults.ts';

export { fire } from './fire.ts';
export { troubles } from './judge.ts';
export { kept, page, readKept } from './page.ts';

export const agentNames = fireAgents.map(({ name }) => name);
export const faultNames = faults.map(({ name }) => name);
