/**
 * Compiles the two examples in TypeScript beside the package as it is packed, in one process: together under the
 * resolution of bundlers, and the strict one as it stands. Says what tsc would say, in the words of tsc.
 *
 * node compile.js <folder of the examples>
 */
import { join } from 'node:path'
import ts from 'typescript'

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

/** Files of other packages are checked once, those of the package and of the examples under either resolution. */
const checked = new Set()

function compile(config) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(join(dir, config), {}, host)
  const program = ts.createProgram(fileNames, options)
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
  if (!options.noEmit) told.push(...program.emit().diagnostics)
  return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics(told), host)
}

process.stdout.write(JSON.stringify({ bundler: compile('tsconfig.json'), strict: compile('typescript/tsconfig.json') }))
