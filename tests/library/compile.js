/**
 * Writes the declarations of the package beside its code, as packing does, and compiles the two examples in TypeScript
 * beside it: together under the resolution of bundlers, and the strict one as it stands. Says what tsc would say, in
 * the words of tsc. The two in one process, so that the declarations of other packages are read and checked once.
 *
 * node compile.js <folder of the examples>
 */
import { join } from 'node:path'
import ts from 'typescript'
import { writeTypes } from '../../build/types.js'

const dir = ts.sys.realpath(process.argv[2])
const host = {
  ...ts.sys,
  getCurrentDirectory: () => dir,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
  onUnRecoverableConfigFileDiagnostic({ messageText }) {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'))
  },
}

/** Declarations of other packages by name and what decides how they are read: no setting of the two programs does. */
const read = new Map()
const plain = ts.createCompilerHost({})
function getSourceFile(name, how, ...rest) {
  if (!ts.isDeclarationFileName(name) || name.startsWith(`${dir}/`)) return plain.getSourceFile(name, how, ...rest)
  const key = [name, how.languageVersion, how.impliedNodeFormat, how.jsDocParsingMode].join('\n')
  if (!read.has(key)) read.set(key, plain.getSourceFile(name, how, ...rest))
  return read.get(key)
}

/** Files of other packages are checked once, those of the package and of the examples under either resolution. */
const checked = new Set()

function compile(config) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(join(dir, config), {}, host)
  const program = ts.createProgram(fileNames, options, { ...ts.createCompilerHost(options), getSourceFile })
  const told = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getGlobalDiagnostics(),
  ]
  for (const file of program.getSourceFiles()) {
    if (checked.has(file.fileName)) continue
    told.push(...program.getSemanticDiagnostics(file))
    if (!file.fileName.startsWith(`${dir}/`)) checked.add(file.fileName)
  }
  // One by one: for all at once every file would be checked again.
  if (!options.noEmit) for (const name of fileNames) told.push(...program.emit(program.getSourceFile(name)).diagnostics)
  return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(told), host)
}

const types = writeTypes(join(dir, 'node_modules/ai-content-conformance'))
const bundler = compile('tsconfig.json')
process.stdout.write(JSON.stringify({ types, bundler, strict: compile('typescript/tsconfig.json') }))
