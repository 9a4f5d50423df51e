import { describe, expect, it } from 'vitest';
import type { HubMember } from '../../../proxy/hub/hubMember.ts';
import { mergedInfo } from '../../../proxy/hub/hubGreeting.ts';

const memberOf = (name: string, info: object | undefined): HubMember =>
  ({ name, info, mayHave: (what: string) => info === undefined || what === 'tools' }) as unknown as HubMember;

describe('what several servers say of themselves as one', () => {
  it('[P-8] is the version that all understand, and the instructions of each', () => {
    const members = [
      memberOf('one', { protocolVersion: '2025-06-18', capabilities: { tools: {} }, instructions: 'Be kind.' }),
      memberOf('other', { protocolVersion: '2025-11-25', instructions: '' }),
    ];
    expect(mergedInfo(members, '2025-11-25', '1')).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      instructions: 'one: Be kind.',
    });
  });

  it('[P-8] has tools while one has not said what it has, and nothing that none is known to have', () => {
    const { capabilities } = mergedInfo([memberOf('one', undefined)], '2025-11-25', '1');
    expect(capabilities).toEqual({ tools: { listChanged: true } });
  });
});
