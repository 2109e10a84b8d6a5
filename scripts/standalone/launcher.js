// conform: the conformance suite for the AI Content Service interface, in one file. Compiled code and files of the package
// stand below, each compressed; what a run needs is unpacked when it is needed, in memory. Behind them stand the licences of
// what was taken in. Made by build/standalone/build.js of the package.

const node = (name) => process.getBuiltinModule(`node:${name}`)

/**
 * Called by what build.js writes behind it.
 * @param {string} version of the package
 * @param {Record<string, () => string>} parts what is in here, by its path in the package
 */
// oxlint-disable-next-line no-unused-vars
function launch(version, parts) {
  const { fileURLToPath } = node('url')
  /** Below its path stand the files of the package, where nothing else can stand. */
  const file = fileURLToPath(import.meta.url)
  /** Loads a module that is not in here: a target file. */
  const importFromOutside = (url) => import(url)
  const { isMainThread, Worker } = node('worker_threads')
  // To unpack anything takes longer than Node.js takes to start.
  if (isMainThread && /^(-V|--version)$/.test(process.argv[2]) && process.argv.length === 3)
    return void process.stdout.write(`${version}\n`)
  const { relative, sep } = node('path')
  const requireFromNode = node('module').createRequire(file)

  const unpack = (name) => node('zlib').brotliDecompressSync(Buffer.from(parts[name](), 'base64'))

  /** The name of a part; undefined for a path of anything else. */
  function nameInside(path) {
    if (typeof path !== 'string' && !(path instanceof URL)) return undefined
    const name = relative(file, path instanceof URL ? fileURLToPath(path) : path).replaceAll(
      sep,
      '/',
    )
    return Object.hasOwn(parts, name) ? name : undefined
  }

  const readFileSync = (path, options) => {
    const name = nameInside(path)
    if (name === undefined) return node('fs').readFileSync(path, options)
    const encoding = options?.encoding ?? options
    return encoding ? unpack(name).toString(encoding) : unpack(name)
  }

  /** Modules of Node.js that find what is in here, too. */
  const knowing = {
    'node:fs': () => ({ ...node('fs'), readFileSync }),
    'node:worker_threads': () => ({
      ...node('worker_threads'),
      /** A thread is told by an argument which part of the code to run. */
      Worker: function (path, options) {
        const name = nameInside(path)
        return name === undefined
          ? new Worker(path, options)
          : new Worker(file, { ...options, argv: [name] })
      },
    }),
  }

  const modules = new Map()

  /** Loads a part of the code, or a module of Node.js. */
  function load(id) {
    if (id === 'ai-content-conformance') return load('./index.js')
    const known = modules.get(id)
    if (known) return known.exports
    const module = { exports: Object.hasOwn(knowing, id) ? knowing[id]() : {} }
    if (!id.startsWith('./') && !Object.hasOwn(knowing, id)) return requireFromNode(id)
    modules.set(id, module)
    if (!id.startsWith('./')) return module.exports
    // The code believes to be one folder deep in the package, as compiled code is.
    const filename = `${file}/dist/${id.slice(2)}`
    const run = node('vm').compileFunction(
      unpack(`dist/${id.slice(2)}`).toString('utf8'),
      ['exports', 'require', 'module', '__filename', 'importFromOutside'],
      { filename },
    )
    run(module.exports, load, module, filename, importFromOutside)
    return module.exports
  }

  if (isMainThread) return load('./run.js').conform()
  load(`./${process.argv[2].slice('dist/'.length)}`)
}
