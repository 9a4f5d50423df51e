import { describe } from 'vitest';
import { type ClientFault, faults } from '../../proxy/api/clients.ts';
import { itDoesAsTold, realPrograms } from './clientCells.ts';

const all = Object.keys(faults) as ClientFault[];

describe.each(realPrograms)('the table of clients: %s', (program) => {
  itDoesAsTold(program, all);
});
