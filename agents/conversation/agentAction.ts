import { recordIn, textIn } from '../../src/protocol/face.ts';

/** Longest description of what a tool is to do, in characters. */
const longestAction = 300;

/** The fields of tools' inputs that say the most, in order. */
const telling = ['command', 'cmd', 'file_path', 'path', 'pattern', 'url', 'query', 'description', 'prompt'];

/** Returns the task of a tool, in short, from its input. */
export function actionOf(input: unknown): string {
  const fields = recordIn(input);
  if (fields === undefined) return shorten(textIn(input) ?? '');
  for (const name of telling) {
    const value = fields[name];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return shorten(value.join(' '));
    const text = textIn(value);
    if (text !== undefined) return shorten(text);
  }
  return shorten(json(fields));
}

function json(fields: object): string {
  try {
    const text = JSON.stringify(fields);
    return text === '{}' ? '' : text;
  } catch {
    return '';
  }
}

const shorten = (text: string): string => (text.length > longestAction ? `${text.slice(0, longestAction - 1)}…` : text);
