import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { noTrace } from './httpServer.ts';

/** A page that is one file, and the policy under which nothing else can be loaded or run in it. */
export interface Page {
  readonly html: string;
  /** For the header `Content-Security-Policy`. */
  readonly policy: string;
}

interface PageParts {
  readonly title: string;
  readonly style: string;
  readonly body: string;
  readonly script: string;
  /** Further rules of the policy. @defaultValue none */
  readonly rules?: readonly string[] | undefined;
}

/** Puts a page together. Its parts are ours alone: what is shown in it comes by its script. */
export function buildPage({ title, style, body, script, rules = [] }: PageParts): Page {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    `<title>${title}</title>`,
    `<style>${style}</style>`,
    '</head>',
    `<body>${body}<script>${script}</script></body>`,
    '</html>',
    '',
  ].join('\n');
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...rules,
  ].join('; ');
  return { html, policy };
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

export function sendPage(response: ServerResponse, { html, policy }: Page): void {
  response.writeHead(200, {
    ...noTrace,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
  });
  response.end(html);
}
