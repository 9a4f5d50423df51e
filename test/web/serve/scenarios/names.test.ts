import { describe, expect, it } from 'vitest';
import { startServed } from '../startServed.ts';

describe('names that a client of `unwedge serve` chooses', () => {
  it('[N-3] are refused with 400 where the store has no room for them, or would change them', async () => {
    const { post, send } = await startServed({
      agents: { coder: { backend: 'claude', claude: { command: 'no-claude' } } },
    });
    for (const id of ['x'.repeat(201), 'a\0b', 'b\uD800']) {
      const response = await post('/v1/sessions', { id });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: expect.stringContaining('`body.id`') as string },
      ]);
    }
    expect((await post('/v1/sessions', { id: '😀'.repeat(200) })).status).toBe(201);
    await post('/v1/sessions', { id: 'main' });
    const refused = await send('main', { text: 'hello' }, '', 'k'.repeat(1025));
    expect(refused).toMatchObject({ status: 400, error: expect.stringContaining('at most 1024 bytes') as string });
  });
});
