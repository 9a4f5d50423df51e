// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { amountText, budgetOption, higherLimit, limitWords } from './budgetText.ts';
export { canonicalJson } from './canonicalJson.ts';
export { isProgram, programFlaw, programForm } from './commandText.ts';
export {
  type Duration,
  durationText,
  formatDuration,
  formatLatency,
  formatSeconds,
  limitText,
  msIn,
  unitsMs,
  wholeMs,
} from './duration.ts';
export { globFits, hasParts } from './glob.ts';
export { lastLine, withLastLine } from './lastLine.ts';
export { type LogLevel, type Logger, say } from './logger.ts';
export { nearest, nearestId } from './nearest.ts';
export { parsedJson } from './parsedJson.ts';
export { isPostgresUrl, parsed, shownSchema, shownUrl, urlForm } from './postgresUrl.ts';
export { plainJson, plainText, sanitize } from './sanitize.ts';
export { show } from './showValue.ts';
export { commandAbout, dbWords, optionWords, quoteShell, shellWord } from './shownCommand.ts';
export { boundedJson, boundedText, fromJson, toJson } from './storedJson.ts';
export { fitName, fitText, textWidth, wrapWords } from './textWidth.ts';
