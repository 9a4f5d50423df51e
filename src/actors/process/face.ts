// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { safeEnvironment } from './childEnvironment.ts';
export { createChildGuard } from './childGuard.ts';
export { bringExeca } from './execaPackage.ts';
export { lateModule, loadFailure } from './lateModule.ts';
export { startMarked } from './limitMark.ts';
export { makeDirectory } from './makeDirectory.ts';
export { type OutputEnd, endOfOutput, polled } from './outputEnd.ts';
export { exitFacts } from './processExit.ts';
export { type Liveness, type ProcessWorld, identifyNow, judge, seeWorld } from './processIdentity.ts';
export { type ProcessLink, connectionOver, killGraceMs } from './processLink.ts';
export {
  isMarkSeen,
  killAtExit,
  killMarked,
  limitFor,
  listByEnvironment,
  markName,
  markVariable,
  nextMark,
  readCommandLine,
  tellsEnvironments,
  variablesOf,
} from './processMark.ts';
export { type ProcessEntry, isYoungestNow, listProcesses } from './processTable.ts';
export { descendants, killOrphansNow, killTreeNow, terminateTree } from './processTree.ts';
export { isShortage, shortageText, spawnFailure } from './spawnFailure.ts';
export { spawnObstacle } from './spawnObstacle.ts';
export { tryStart } from './tryStart.ts';
export { valueHider, withoutValues } from './valueHider.ts';
