// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export type { SeenAnswer } from './answerKey.ts';
export { HeardCalls } from './heardCalls.ts';
export { keepNewest } from './keepNewest.ts';
export {
  chosenLimits,
  limitsOf,
  ownLimits,
  passingLimits,
  type SpinningChoice,
  spinningChoices,
  spinningKey,
  type SpinningLimits,
} from './spinningRule.ts';
export { RepeatedText, repeatsItself } from './repeatedText.ts';
export {
  repeatRule,
  seenCall,
  type SeenCall,
  spinningNews,
  type SpinningVerdict,
  SpinningWatch,
} from './spinningWatch.ts';
