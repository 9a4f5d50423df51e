import { createChildGuard } from '../src/actors/process/childGuard.ts';

// The guard of children is a process, which ends with the last gateway that needs it: unless a worker keeps its own, that is one after every test.
createChildGuard(undefined).raise();
