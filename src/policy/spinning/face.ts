// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export {
  chosenLimits,
  ownLimits,
  passingLimits,
  type SpinningChoice,
  spinningChoices,
  type SpinningLimits,
} from './spinningRule.ts';
export { seenCall, type SeenCall, SpinningWatch, type SpinningVerdict } from './spinningWatch.ts';
