import { type Database, hasTable } from '../../src/store/sqlite/face.ts';
import type { Transaction } from '../pgConnections.ts';

/**
 * A file that is about to be moved has a name in itself, and the database to which it was moved has it too, written with the rows. So a move that was
 * cut off in any place is made once: the next one finds out whether the rows are there.
 */
export function nameOfMove(file: Database): string {
  return file.immediate(() => {
    if (!hasTable(file, 'unwedge_moved')) file.exec('CREATE TABLE unwedge_moved (id TEXT PRIMARY KEY) STRICT');
    const known = file.prepare('SELECT id FROM unwedge_moved').get();
    if (known !== undefined) return String(known['id']);
    const id = crypto.randomUUID();
    file.prepare('INSERT INTO unwedge_moved (id) VALUES (?)').run(id);
    return id;
  });
}

/** @returns whether this is the first time: false where the rows of the file are in the database already. */
export async function markMoved(transaction: Transaction, id: string): Promise<boolean> {
  const text = 'INSERT INTO uw.moved (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id';
  return (await transaction.run({ name: '', text }, [id])).length > 0;
}
