"use strict";
// Runs Python in a worker of its own. The page sends everything it is made of; nothing is fetched here.
self.onmessage = async ({ data: { pyodide, module, files, code } }) => {
  self.fetch = async (address) => {
    const name = String(address).split("/").pop();
    return new Response(files[name], { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "" } });
  };
  try {
    const { loadPyodide } = await import(pyodide);
    const python = await loadPyodide({
      indexURL: "memory:/",
      createPyodideModule: (await import(module)).default,
      lockFileContents: new TextDecoder().decode(files["pyodide-lock.json"]),
    });
    python.unpackArchive(files["library.zip"], "zip", { extractDir: "/library" });
    python.runPython('import sys; sys.path.insert(0, "/library")');
    const reader = python.pyimport("reader");
    let folders = 0;

    // Writes what was dropped to a new folder, whatever the files are called.
    function put(dropped) {
      const folder = `/dropped/${(folders += 1)}`;
      python.FS.mkdirTree(folder);
      for (const { path, data } of dropped) {
        const parts = path.split("/").map((part) => part.replace(/\0/g, "\uFFFD")).filter((part) => !["", ".", ".."].includes(part));
        const name = (parts.pop() ?? "file").slice(0, 200);
        const home = [folder, ...parts.map((part) => part.slice(0, 200))].join("/");
        python.FS.mkdirTree(home);
        python.FS.writeFile(`${home}/${name}`, new Uint8Array(data));
      }
      return folder;
    }

    self.onmessage = ({ data: { id, name, values, dropped } }) => {
      try {
        const given = dropped ? [put(dropped)] : values;
        self.postMessage({ id, ...JSON.parse(reader.call(name, JSON.stringify(given))) });
      } catch (error) {
        self.postMessage({ id, error: `Python stopped: ${String(error.message).trim().split("\n").pop()}` });
      }
    };
    self.postMessage({ ready: JSON.parse(python.FS.readFile("/library/examples.json", { encoding: "utf8" })) });
  } catch (error) {
    self.postMessage({ failed: String(error.message) });
  }
};
