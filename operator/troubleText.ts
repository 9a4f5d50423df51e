import { type OpenAlert, times } from '../src/policy/records/face.ts';

/** Says what an alert is about, in a few words; of one that is over in the past. */
export function troubleText(
  {
    because,
    kind,
    message,
    crashes,
  }: Pick<OpenAlert, 'because' | 'message' | 'crashes'> & { kind?: string | undefined },
  isOver = false,
): string {
  if (because !== 'failures' && because !== 'crashes') return message;
  const crash = isOver ? `crashed ${times(crashes)}` : 'keeps crashing';
  const trouble = because === 'crashes' ? crash : kind;
  return trouble === undefined ? message : `${trouble}: ${message}`;
}
