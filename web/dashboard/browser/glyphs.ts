/** Shapes that differ without their colour, on 16 by 16. */
export const paths = {
  ok: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM5.2 8.2l2 2L10.8 6',
  run: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM6.6 5.4v5.2L10.8 8z',
  clock: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM8 4.5V8l2.5 1.8',
  open: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM3.5 12.5l9-9',
  half: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM8 1.5v13M10 2v12M12 3.5v9',
  cross: 'M8 1.6 14.6 8 8 14.4 1.4 8zM6 6l4 4M10 6l-4 4',
  warn: 'M8 2l6.8 11.8H1.2zM8 6.4v3.4M8 11.8v.1',
  ask: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM6.2 6.4a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.2M8 11.4v.1',
  held: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM6.4 5.8v4.4M9.6 5.8v4.4',
  idle: 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0z',
  lock: 'M3 7h10v7H3zM5.2 7V5a2.8 2.8 0 0 1 5.6 0v2',
  overview: 'M2 8.5h3L6.6 4l2.8 8L11 8.5h3',
  sessions: 'M2.5 3h11v8h-6L4.5 13.5V11h-2z',
  integrations: 'M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2.5',
  processes: 'M3 2.5v10.5h4M3 7h4M9 5.5h5v3H9zM9 11.5h5v3H9z',
  events: 'M2 4h1M2 8h1M2 12h1M6 4h8M6 8h8M6 12h8',
  alerts: 'M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3zM6.8 14.5h2.4',
  letters: 'M2 3.5h12v9H2zM2 4l6 5 6-5',
  machines: 'M2 2.5h5v4H2zM9 9.5h5v4H9zM4.5 6.5v5H9M7 4.5h4.5v5',
  theme: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 2v12M10 2.5v11M12 4v8',
} as const;

export type GlyphName = keyof typeof paths;
export type Tone = 'ok' | 'warn' | 'bad' | 'wait' | 'acc' | 'dim' | 'faint';
export type Sign = readonly [glyph: GlyphName, tone: Tone];
