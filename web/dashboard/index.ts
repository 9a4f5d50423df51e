export { type Inspected, type InspectOptions, type Inspector, inspectWithStately } from './inspectWithStately.ts';
