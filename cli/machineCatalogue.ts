import type { AnyStateMachine } from 'xstate';
import {
  approvalMachine,
  connectionMachine,
  integrationMachine,
  sessionMachine,
  subprocessMachine,
} from '../src/machines/face.ts';
import { workflowMachine } from '../workflow/runMachine.ts';

/** A machine of the runtime, and what one actor of it stands for. */
interface CataloguedMachine {
  readonly machine: AnyStateMachine;
  readonly summary: string;
}

/** Every machine by its id. Those that run are these, with their slots filled. */
export const machineCatalogue: Readonly<Record<string, CataloguedMachine>> = {
  integration: { machine: integrationMachine, summary: 'something outside that is called, and its circuit breaker' },
  session: { machine: sessionMachine, summary: 'a conversation: one turn at a time, and a way out of every turn' },
  subprocess: { machine: subprocessMachine, summary: 'one run of a command, from spawn to the end of its tree' },
  connection: { machine: connectionMachine, summary: 'a process that is spoken to, from its handshake to its end' },
  approval: { machine: approvalMachine, summary: 'one question to a person or a policy; without an answer it is no' },
  workflow: {
    machine: workflowMachine,
    summary: 'one run of a workflow: a backend plans, does the items and sums up, or the next one takes over',
  },
};
