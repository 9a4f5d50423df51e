// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export {
  type LiveGroup,
  type LiveIntegration,
  type LiveSelf,
  type LiveStatus,
  type WatchedAlert,
  readAlertsAnswer,
  readFlightAnswer,
  readLayersAnswer,
  readOrderAnswer,
  readSelfAnswer,
  readStatusAnswer,
  readTreeAnswer,
  readWhyAnswer,
} from './answers.ts';
export { readItem } from './items.ts';
export type { Methods } from './serveClient.ts';
export { type Surroundings, socketDirectories } from './socketPath.ts';
export { desertedSockets, socketsOf } from './staleSockets.ts';
