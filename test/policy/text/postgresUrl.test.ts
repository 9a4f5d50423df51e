import { describe, expect, it } from 'vitest';
import { shownUrl, withoutSignIn } from '../../../src/policy/text/postgresUrl.ts';

const url =
  'postgresql://robin:s3cr3t@db:5433/agents?schema=mine&sslmode=require&password=s3cr3t&user=robin&direct=postgres://robin:s3cr3t@db/agents';

describe('the URL of a database', () => {
  it('[N-1] [O-8] is shown without who signs in, nor with what', () => {
    expect(shownUrl(url)).toBe('postgres://db:5433/agents?schema=mine');
    expect(shownUrl('postgres://[broken')).toBe('postgres://…');
    expect(shownUrl('postgres://robin:1/s3cr3t@db/agents')).toBe('postgres://…');
  });

  it('[N-1] [O-8] stands in commands that are shown with all that says where it is', () => {
    expect(withoutSignIn(url)).toBe('postgres://db:5433/agents?schema=mine&sslmode=require');
    expect(withoutSignIn('postgres:///agents?host=/run/pg')).toBe('postgres://localhost/agents?host=/run/pg');
  });
});
