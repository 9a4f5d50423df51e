import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenForCallback } from '../../../cli/mcp/signIn.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** What a browser gets that another site's page sends there. */
function sent(url: string, dest: string): Promise<number | undefined> {
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': dest };
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

describe('the listener for a sign-in', () => {
  it('[P-4] takes a browser that the page of the sign-in sends back, and no page in a frame', async () => {
    const listener = await listenForCallback(new SimulatedClock(), 0, 'ours');
    onTestFinished(() => listener.close());
    const url = `${listener.redirectUrl}?state=ours&code=one`;
    expect(await sent(url, 'iframe')).toBe(403);
    expect(await sent(url, 'document')).toBe(200);
    expect(await listener.callback).toMatchObject({ code: 'one' });
  });
});
