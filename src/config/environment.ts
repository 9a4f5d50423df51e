import { nearest } from '../policy/text/nearest.ts';
import type { KeyData } from '../policy/options/optionKeys.ts';
import { isSwitch, keyOfVariable, variablesByGuess } from './keys.ts';
import { type Layer, layerOf } from './layers.ts';
import { maxProblems } from './size.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Names the configuration file. */
export const fileVariable = 'UNWEDGE_CONFIG';

const prefix = 'UNWEDGE_';
const bare = (variable: string): string => variable.slice(prefix.length);

/** By which a runtime knows its children; not for users. */
const internalVariables = new Set(['UNWEDGE_RUN']);

/** Reads the variables of the environment, a layer each, and the names among them that say nothing. */
export function environmentLayers(env: Environment): {
  readonly layers: readonly Layer[];
  readonly warnings: readonly string[];
} {
  const layers: Layer[] = [];
  const switches: Layer[] = [];
  const warnings: string[] = [];
  let unknown = 0;
  for (const variable of Object.keys(env).sort()) {
    const text = env[variable]?.trim();
    if (!variable.startsWith(prefix) || variable === fileVariable || internalVariables.has(variable)) continue;
    // A variable that is set to nothing counts as not set.
    if (text === undefined || text === '') continue;
    const key = keyOfVariable(variable);
    if (key === undefined) {
      if (unknown++ < maxProblems) warnings.push(unknownVariable(variable));
    } else {
      const layer = layerOf({ from: 'environment', variable }, key.path, valueOf(key.key, text));
      // Switching off wins over figures of what is off.
      (isSwitch(key.key) ? switches : layers).push(layer);
    }
  }
  if (unknown > maxProblems) warnings.push(`${unknown - maxProblems} more unknown variables are not told`);
  return { layers: [...layers, ...switches], warnings };
}

function unknownVariable(variable: string): string {
  const guesses = [...variablesByGuess.keys(), fileVariable];
  // The prefix that all begin with makes no two of them alike; a unit belongs to the value.
  const close = nearest(bare(variable).replace(/_MS$/, ''), guesses.map(bare));
  if (close === undefined) return `unknown variable ${variable}`;
  const name = `${prefix}${close}`;
  return `unknown variable ${variable}; did you mean ${variablesByGuess.get(name) ?? name}?`;
}

/** Reads a text; one that is no number or truth value stays, to be named as it was given. */
function valueOf(key: KeyData, text: string): unknown {
  if (key.kind === 'number' || key.kind === 'duration') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (isSwitch(key)) return text === 'false' || text === '0' ? false : text;
  if (key.kind === 'boolean') return { true: true, 1: true, false: false, 0: false }[text] ?? text;
  return text;
}
