// Built into the command line, with all that it needs, as one file (scripts/bundle.mjs): `unwedge run` stands in front of every command of a day.
export { execa } from 'execa';
