// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { approvalMachine } from './approval.ts';
export { type ConnectionEmitted, type ConnectionEvent, type ProcessEnd, connectionMachine } from './connection.ts';
export { integrationMachine } from './integration.ts';
export { itself } from './itself.ts';
export { type SessionRef, sessionMachine } from './session.ts';
export { type ProcessExit, type SubprocessInput, subprocessMachine } from './subprocess.ts';
export { timeoutText } from './subprocessExit.ts';
export { type OutputStream, commandRule } from './subprocessInput.ts';
