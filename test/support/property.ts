import fc from 'fast-check';

// Properties run on the same cases everywhere, so that a test that passes once passes always. Other cases are looked for on purpose:
// `PROPERTY_SEED=$RANDOM npx vitest run` with as many seeds as there is time for.
const seed = Number(process.env['PROPERTY_SEED'] ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error(`PROPERTY_SEED=${process.env['PROPERTY_SEED']}: expected an integer`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export { fc };
