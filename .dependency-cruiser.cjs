/** Who may import whom. Each folder stands above those that it names; no two import each other, files included. */

/** The layers of `harness/`, the top one first: each imports only those below it. */
const layers = ['run', 'client', 'journal', 'target', 'report', 'recording', 'http']
const below = (layer) => layers.slice(layers.indexOf(layer) + 1).map((name) => `harness/${name}/`)

/** Those of which others import `index.ts` alone, as they have more than two files; tests, the bench and the build look inside. */
const faces = layers.filter((layer) => layer !== 'recording').map((layer) => `harness/${layer}`)

/** What lies under every layer. */
const ground = ['catalogue/', 'schemas/', 'harness/[^/]+\\.ts$']
const harness = [...layers.map((name) => `harness/${name}/`), ...ground]

/** Of each folder: what it may import besides itself, and why no more. */
const house = {
  fixtures: [[], 'Samples know nothing of who uses them.'],
  schemas: [[], 'Shapes know nothing of who uses them.'],
  reference: [[], 'Judge and judged share no code, so that they share no mistake.'],
  catalogue: [['schemas/'], 'What the interface says is data.'],
  ...Object.fromEntries(
    layers.map((layer) => [
      `harness/${layer}`,
      [[...below(layer), ...ground], 'A layer imports those below it.'],
    ]),
  ),
  suites: [[...harness, 'fixtures/'], 'A suite judges with the engine.'],
  reporters: [['harness/report/', ...ground], 'A report is rendered from the result model alone.'],
  library: [
    ['suites/', 'reference/', 'reporters/', ...harness],
    'The engine as a library, and the front for vitest.',
  ],
  cli: [
    ['library/', 'suites/', 'reporters/', 'reference/', 'fixtures/', ...harness],
    'The command line is on top.',
  ],
}

const ours = [...Object.keys(house), 'harness', 'scripts', 'tests'].map((folder) => `${folder}/`)

function edges(folder, [allowed, comment]) {
  return {
    name: `${folder}-imports-only`,
    comment,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: `^(${ours.join('|')})`, pathNot: `^(${[`${folder}/`, ...allowed].join('|')})` },
  }
}

/** A package that only these files import. */
function confined(name, module, from, comment) {
  return {
    name,
    comment,
    severity: 'error',
    from: { pathNot: from },
    to: { path: `^node_modules/${module}` },
  }
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Files that know each other are one file. Types count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-folder-cycle',
      comment: 'Two folders that need each other are one. Types count.',
      severity: 'error',
      scope: 'folder',
      from: { path: `^(${Object.keys(house).join('|')})(/|$)` },
      to: { circular: true },
    },
    ...Object.entries(house).map(([folder, rule]) => edges(folder, rule)),
    ...faces.map((folder) => ({
      name: `${folder.replace('/', '-')}-has-a-face`,
      comment: `What others may use of it is named in ${folder}/index.ts.`,
      severity: 'error',
      from: { pathNot: `^(${folder}|tests|scripts)/` },
      to: { path: `^${folder}/`, pathNot: `^${folder}/index\\.ts$` },
    })),
    confined(
      'one-http-client',
      'undici/',
      '^(harness/http|tests)/',
      'Only harness/http speaks HTTP to a target.',
    ),
    confined(
      'one-test-runner',
      'vitest/',
      '^(library/vitest/|suites/.*\\.suite\\.ts|vitest\\.config\\.ts|tests/|docs/examples/)',
      'A run needs no test runner.',
    ),
    {
      name: 'ships-what-it-needs',
      comment: 'What an installed package imports is a run-time dependency.',
      severity: 'error',
      from: { pathNot: '^(tests|scripts|docs/examples|library/vitest)/|^[^/]+\\.(ts|js|cjs)$' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    },
    { name: 'resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    // No tsConfig: its paths would take the package vitest for the folder of that name.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.tmpdist)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
}
