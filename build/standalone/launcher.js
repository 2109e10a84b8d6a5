// conform: the conformance suite for the AI Content Service interface, in one file. Compiled code and files of the package
// stand at the end, each compressed, in a comment, so that Node.js does not look at them; what a run needs is unpacked when it
// is needed, in memory. Before them stand the licences of what was taken in. Made by build/standalone/build.js of the package.

/**
 * @typedef {object} Host how Node.js runs this file
 * @property {string} version of the package
 * @property {Record<string, [start: number, length: number]>} parts where each part begins, counted from the end
 * @property {string} file its path; below it stand the files of the package, where nothing else can stand
 * @property {() => Buffer} read reads this file
 * @property {(url: string) => Promise<unknown>} importModule loads a module that is not in here: a target file
 * @property {(options: object) => import('node:worker_threads').Worker} startThread runs this file in another thread
 */

/** Called by what build.js writes behind it. @param {Host} host */
function launch(host) {
  const node = (name) => process.getBuiltinModule(`node:${name}`)
  const { isMainThread, Worker } = node('worker_threads')
  // To unpack anything takes longer than Node.js takes to start.
  if (isMainThread && /^(-V|--version)$/.test(process.argv[2]) && process.argv.length === 3)
    return void process.stdout.write(`${host.version}\n`)
  const { relative, sep } = node('path')
  const { fileURLToPath, pathToFileURL } = node('url')
  const requireFromNode = node('module').createRequire(host.file)

  function nameInside(path) {
    if (typeof path !== 'string' && !(path instanceof URL)) return undefined
    const below = relative(host.file, path instanceof URL ? fileURLToPath(path) : path)
    const name = below.split(sep).join('/')
    return Object.hasOwn(host.parts, name) ? name : undefined
  }

  let whole
  function unpack(name) {
    whole ??= host.read()
    const [start, length] = host.parts[name]
    const base64 = whole.latin1Slice(whole.length - start, whole.length - start + length)
    return node('zlib').brotliDecompressSync(Buffer.from(base64, 'base64'))
  }

  function fileInside(path, options) {
    const name = nameInside(path)
    if (name === undefined) return undefined
    const encoding = typeof options === 'string' ? options : options?.encoding
    return encoding ? unpack(name).toString(encoding) : unpack(name)
  }

  const modules = new Map()

  /** Loads a part of the code, or a module of Node.js. */
  function load(id) {
    if (id === 'standalone:inside') return inside
    if (!id.startsWith('./')) return requireFromNode(id)
    const name = `dist/${id.slice(2)}`
    const known = modules.get(name)
    if (known) return known.exports
    const module = { exports: {} }
    modules.set(name, module)
    const names = ['exports', 'require', 'module', '__filename']
    const run = node('vm').compileFunction(unpack(name).toString('utf8'), names, { filename: `${host.file}/${name}` })
    run(module.exports, load, module, host.file)
    return module.exports
  }

  /** Modules that the code in here has in the place of Node's own. */
  const inside = {
    load,
    importModule: host.importModule,
    /** Address at which code in here believes to be: one folder deep in the package, as compiled code is. */
    ownUrl: pathToFileURL(`${host.file}/dist/conform.js`).href,
    readFileSync: (path, options) => fileInside(path, options) ?? node('fs').readFileSync(path, options),
    readFile: async (path, options) => fileInside(path, options) ?? (await node('fs/promises').readFile(path, options)),
    /** A thread is told by an argument which part of the code to run. */
    Worker: function (path, options) {
      const name = nameInside(path)
      return name === undefined ? new Worker(path, options) : host.startThread({ ...options, argv: [name] })
    },
  }

  if (isMainThread) return load('./run.js').conform()
  load(`./${process.argv[2].slice('dist/'.length)}`)
}
