/** Edges point one way: suites → harness → catalogue → schemas, reporters → harness/report, cli on top; the reference stands alone. */

const ours = [
  ...[
    'bench',
    'catalogue',
    'certificate',
    'cli',
    'fixtures',
    'harness',
    'reference',
    'reporters',
    'schemas',
    'suites',
    'tests',
  ],
  'traffic',
]

/** What the folder may import of ours: itself, and these folders or files. */
function imports(folder, allowed, comment) {
  return {
    name: `${folder}-imports-only`,
    comment,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: `^(${ours.join('|')})/`, pathNot: `^(${[`${folder}/`, ...allowed].join('|')})` },
  }
}

/** A package that only these files import. */
function confined(name, module, from, comment) {
  return { name, comment, severity: 'error', from: { pathNot: from }, to: { path: `^node_modules/${module}` } }
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
    imports('fixtures', [], 'Samples know nothing of who uses them.'),
    imports('schemas', [], 'Shapes know nothing of who uses them.'),
    imports('reference', [], 'Judge and judged share no code, so that they share no mistake.'),
    imports('catalogue', ['schemas/'], 'What the interface says is data.'),
    imports('reporters', ['harness/report/', 'catalogue/'], 'A report is rendered from the result model alone.'),
    imports('harness', ['catalogue/', 'schemas/', 'fixtures/pdf.ts'], 'The words that suites are written in.'),
    imports('suites', ['harness/', 'catalogue/', 'schemas/', 'fixtures/'], 'A suite is written in those words.'),
    imports(
      'cli',
      [
        'certificate/',
        'traffic/',
        'harness/',
        'catalogue/',
        'schemas/',
        'fixtures/',
        'reporters/',
        'reference/',
        'suites/all.ts',
      ],
      'The command line is on top; of the suites it knows that there are some.',
    ),
    confined('one-http-client', 'undici/', '^(harness|tests)/', 'Only the harness speaks HTTP to a target.'),
    confined(
      'one-test-runner',
      'vitest/',
      '^(harness/engine/vitest-adapter\\.ts|cli/run/engine\\.ts|vitest\\.config\\.ts|tests/)',
      'One file makes requirements tests, and one starts the runner.',
    ),
    {
      name: 'ships-what-it-needs',
      comment: 'What an installed package imports is a run-time dependency.',
      severity: 'error',
      from: { pathNot: '^(tests|bench)/|^[^/]+\\.(ts|js|cjs)$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
}
