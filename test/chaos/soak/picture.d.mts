import type { SoakReport } from './soak.mjs';

/** The curves of a soak as an SVG, a panel for each quantity. */
export function soakPicture(report: Pick<SoakReport, 'minutes' | 'seed' | 'curves' | 'warmPart'>): string;
