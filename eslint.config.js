import tseslint from 'typescript-eslint'

const shipped = [
  'cli',
  'fixtures',
  'harness',
  'reference',
  'reporters',
  'schemas',
  'suites',
  'catalogue',
  'certificate',
  'traffic',
]
const lines = { max: 300, skipBlankLines: false, skipComments: false }

/** A test that is skipped, or that alone runs, says nothing of the rest: only `skipIf` and `runIf` may stand, with their condition. */
const heldBack = {
  selector: 'MemberExpression[object.name=/^(test|it|describe)$/][property.name=/^(skip|only|todo|fails)$/]',
  message: 'A test runs, or says on what condition it does: test.skipIf(...), test.runIf(...).',
}

const operations =
  /^(jobs|pdf|completion|chat|files|graphs|applications|ai-detect|web-search|medical|translate|vision)\.[a-z]/

/** What holds for one operation alone is said in the catalogue, or by a suite. */
const namesOperation = {
  selector: `Literal[value=${operations}]`,
  message: 'The harness names no operation: let its record in catalogue/operations.ts tell what is different there.',
}

export default tseslint.config(
  // Examples know of the package what it ships; they are compiled beside it.
  { ignores: ['coverage/', 'dist/', 'examples/', 'node_modules/', '/standalone/', 'site/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{js,cjs}'],
    rules: { eqeqeq: ['error', 'always', { null: 'ignore' }], 'no-var': 'error', 'prefer-const': 'error' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', lines],
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      'no-console': 'error',
      'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
      'prefer-const': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // `return resolve()` ends a branch in one line.
      // Members of plain data, at a pointer.
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `void promise.catch(...)` and `(): void => void map.set(...)` say that a value is not wanted.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // `[...text]` takes code points, which is what is wanted.
      '@typescript-eslint/no-misused-spread': 'off',
      // Every index may be undefined to the compiler; `!` stands where the bound was looked at.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/only-throw-error': ['error', { allow: [{ from: 'file', name: 'Ending' }] }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Our objects are closures: none of their methods looks at `this`.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: shipped.map((folder) => `${folder}/**/*.ts`),
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Set process.exitCode: reports are still being written.' },
      ],
    },
  },
  { files: ['harness/**/*.ts'], rules: { 'no-restricted-syntax': ['error', namesOperation] } },
  {
    files: ['tests/**/*.ts'],
    rules: {
      'max-lines': 'off',
      '@typescript-eslint/max-params': 'off',
      'no-restricted-syntax': ['error', heldBack],
      // Tests take reports and answers apart that they know the shape of.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
