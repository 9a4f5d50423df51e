import { cliFaults } from './cliFaults.ts';
import type { Fault } from './fault.ts';
import { hookFaults } from './hookFaults.ts';
import { httpFaults } from './httpFaults.ts';
import { mcpFaults } from './mcpFaults.ts';
import { watchdogFault } from './watchdogFault.ts';
import { wsFaults } from './wsFaults.ts';

/** All faults, in the order of the table. */
export const faults: readonly Fault[] = [
  ...mcpFaults,
  ...wsFaults,
  ...httpFaults,
  ...cliFaults,
  ...hookFaults,
  watchdogFault,
];
