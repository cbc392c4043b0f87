import CoreDataPrimitives
import SwiftSyntax

/// The sources of one module, as the plugin passes them.
package struct ModuleSources: Sendable {
    package struct File: Sendable {
        package var path: String
        package var text: String

        package init(path: String, text: String) {
            self.path = path
            self.text = text
        }
    }

    package var name: String
    package var files: [File]

    package init(name: String, files: [File]) {
        self.name = name
        self.files = files
    }
}

/// All declarations that names in a target can refer to: its own, those of its dependencies, and those of the
/// toolchain.
///
/// A dependency's file is parsed when a name that it declares is looked up. The sources suffice: a build command may
/// run before the dependencies are compiled.
final class Program {
    let target: Module
    private(set) var managed: [ManagedDeclaration] = []
    private(set) var members: [MemberDeclaration] = []
    private(set) var diagnostics: [Diagnostic] = []
    private let known: [Module] = KnownTypes.modules()
    private var dependencies: [String: Dependency] = [:]
    private var unbound: [ExtensionNode] = []
    private var isBinding = false

    private struct Dependency {
        let module: Module
        /// The unparsed files, with the names that they declare.
        var pending: [(file: ModuleSources.File, names: Set<String>)]
    }

    init(target sources: ModuleSources, dependencies modules: [ModuleSources]) {
        target = Module(sources.name)
        for module in modules where module.name != sources.name {
            dependencies[module.name] = Dependency(
                module: Module(module.name), pending: module.files.map { ($0, DeclaredNames.scan($0.text)) })
        }
        for file in sources.files {
            let reader = parse(file, of: target)
            managed += reader.managed
            members += reader.members
            diagnostics += reader.diagnostics
        }
        bindExtensions()
    }

    @discardableResult
    private func parse(_ file: ModuleSources.File, of module: Module) -> DeclarationReader {
        let reader = DeclarationReader(path: file.path, text: file.text, module: module)
        for type in reader.types { module.types[type.name, default: []].append(type) }
        unbound += reader.extensions
        return reader
    }

    /// Parses the files of a dependency that declare the name.
    private func load(_ name: String, of module: String) {
        guard let dependency = dependencies[module] else { return }
        let wanted = dependency.pending.filter { $0.names.contains(name) }
        if wanted.isEmpty { return }
        dependencies[module]?.pending.removeAll { $0.names.contains(name) }
        for (file, _) in wanted { parse(file, of: dependency.module) }
        bindExtensions()
    }

    /// Resolves the types that extensions extend, so that their declarations become members.
    private func bindExtensions() {
        if isBinding { return }
        isBinding = true
        defer { isBinding = false }
        var isProgressing = true
        while isProgressing {
            isProgressing = false
            let waiting = unbound
            unbound = []
            for node in waiting {
                guard let type = extendedType(node) else {
                    unbound.append(node)
                    continue
                }
                isProgressing = true
                node.extended = type
                for member in node.types { type.members[member.name, default: []].append(member) }
            }
        }
    }

    private func extendedType(_ node: ExtensionNode) -> TypeNode? {
        let resolver = TypeResolver(program: self, owner: .file(node.file))
        return try? resolver.declaration(of: node.typeSyntax)
    }

    // MARK: Look-up

    /// Returns the declarations that a name refers to in a context, innermost first: the first non-empty list wins.
    func lookUp(_ name: String, in owner: Owner) -> [TypeNode] {
        var place: Owner? = owner
        while let current = place {
            switch current {
            case .file(let file): return lookUpAtFileLevel(name, in: file)
            case .type(let type):
                if let found = nonEmpty(members(name, of: type, seenFrom: owner)) { return found }
                place = type.owner
            case .extension(let node):
                if let type = node.extended, let found = nonEmpty(members(name, of: type, seenFrom: owner)) {
                    return found
                }
                place = .file(node.file)
            }
        }
        return []
    }

    /// Returns the types with the name inside a type, its superclass and its protocols.
    func members(_ name: String, of type: TypeNode, seenFrom owner: Owner, depth: Int = 0) -> [TypeNode] {
        load(name, of: type.module.name)
        let own = visible(type.members[name] ?? [], from: owner)
        if !own.isEmpty || depth > 16 { return own }
        for syntax in type.inherited {
            let resolver = TypeResolver(program: self, owner: type.owner)
            guard let base = try? resolver.declaration(of: syntax), base !== type else { continue }
            let found = members(name, of: base, seenFrom: owner, depth: depth + 1)
            if !found.isEmpty { return found }
        }
        return []
    }

    private func lookUpAtFileLevel(_ name: String, in file: SourceFile) -> [TypeNode] {
        load(name, of: file.module.name)
        if let found = nonEmpty(visible(file.module.types[name] ?? [], from: .file(file))) { return found }
        var seen: Set<String> = []
        var imported: [TypeNode] = []
        for module in file.imports.keys.sorted() { collect(name, from: module, &seen, &imported, file) }
        if let found = nonEmpty(imported) { return found }
        for module in known {
            if let found = nonEmpty(module.types[name] ?? []) { return found }
        }
        return []
    }

    private func collect(
        _ name: String, from module: String, _ seen: inout Set<String>, _ found: inout [TypeNode], _ file: SourceFile
    ) {
        guard seen.insert(module).inserted, let dependency = dependencies[module] else { return }
        load(name, of: module)
        found += visible(dependency.module.types[name] ?? [], from: .file(file))
        for exported in dependency.module.exported.sorted() { collect(name, from: exported, &seen, &found, file) }
    }

    /// Returns the types with the name at a module's top level; `nil` if there is no such module.
    func lookUp(_ name: String, inModule module: String, seenFrom owner: Owner) -> [TypeNode]? {
        if module == target.name { return visible(target.types[name] ?? [], from: owner) }
        if let dependency = dependencies[module] {
            load(name, of: module)
            return visible(dependency.module.types[name] ?? [], from: owner)
        }
        let family = known.filter { $0.name == module || module == "Foundation" && $0.name.hasPrefix("Foundation") }
        if family.isEmpty { return nil }
        return family.lazy.compactMap { $0.types[name] }.first ?? []
    }

    /// Returns whether a type in the module hides the module's own name.
    func isModuleNameHidden(_ module: String) -> Bool {
        load(module, of: module)
        return (module == target.name ? target : dependencies[module]?.module)?.types[module] != nil
    }

    private func visible(_ types: [TypeNode], from owner: Owner) -> [TypeNode] {
        types.filter { type in
            if type.module !== owner.file?.module { return type.effectiveAccess > .internal || type.file == nil }
            return !type.isOfFile || type.file === owner.file
        }
    }

    private func nonEmpty(_ types: [TypeNode]) -> [TypeNode]? { types.isEmpty ? nil : types }
}
