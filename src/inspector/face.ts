// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type ChartTransition, chartOf } from './chart.ts';
export { type ActorFrame, type EventFrame, type Frame, type SnapshotFrame, endFrame, isOfficial } from './frames.ts';
export { inspectionOf } from './inspection.ts';
export { mermaidOf } from './mermaid.ts';
