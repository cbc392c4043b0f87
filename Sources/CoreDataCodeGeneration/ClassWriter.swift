/// Writes the Swift of one class; ``ClassGeneration`` shows the result.
///
/// Everything is `nonisolated`, also in targets whose declarations are isolated to the main actor by default: an object
/// belongs to its context's queue.
struct ClassWriter {
    private let generated: GeneratedClass
    private let options: GenerationOptions
    private var lines: [String] = []

    init(_ generated: GeneratedClass, options: GenerationOptions) {
        self.generated = generated
        self.options = options
    }

    private var name: String { SwiftNames.identifier(generated.name) }
    private var access: String { options.accessLevel.prefix }
    /// The enum with the keys of the class's own properties; one per file, so that it can be private.
    private var keys: String { "_\(generated.name)Keys" }

    // MARK: Parts

    /// Returns the class with its properties, which subclasses can override.
    func classDefinition() -> String {
        var writer = self
        let superclass = SwiftNames.identifier(generated.superclass)
        writer.writeContainer("nonisolated \(access)class \(name): \(superclass) {", access: access)
        return writer.text
    }

    /// Returns the properties of a class that its author writes.
    func classExtension() -> String {
        var writer = self
        writer.writeContainer("nonisolated extension \(name) {", access: access)
        return writer.text
    }

    /// Returns the class that is generated each time, as the superclass of the one that its author writes.
    func machineClass() -> String {
        var writer = self
        // Open, so that the author's class can override members from any module.
        let access = options.accessLevel == .public ? "open " : self.access
        let superclass = SwiftNames.identifier(generated.superclass)
        writer.writeContainer("nonisolated \(access)class _\(generated.name): \(superclass) {", access: access)
        return writer.text
    }

    /// Returns the class that its author edits and that is never overwritten.
    func humanClass() -> String {
        let access = options.accessLevel == .public ? "open " : self.access
        return """
            nonisolated \(access)class \(name): _\(generated.name) {
                // Custom logic goes here.
            }

            """
    }

    /// Returns the fetch request for the class's objects, and the declarations that register its key paths.
    func additions() -> String {
        var writer = self
        if generated.hasGeneratedDescendant {
            writer.writeInheritableRequest()
        } else {
            writer.writeRequest(in: name, as: "class")
        }
        if generated.isRoot { writer.lines += ["nonisolated extension \(name): Identifiable {}", ""] }
        writer.writeKeyPaths()
        return writer.text
    }

    // MARK: Lines

    private var text: String { lines.joined(separator: "\n") + "\n" }

    private mutating func writeContainer(_ head: String, access: String) {
        lines.append(head)
        for (index, property) in generated.properties.enumerated() {
            if index > 0 { lines.append("") }
            write(property, access: access)
        }
        for property in generated.properties where property.members != nil {
            lines += ["", "    // MARK: Generated accessors for \(property.name)", ""]
            writeMembers(property, access: access)
        }
        lines.append("}")
        writeKeys()
    }

    private mutating func write(_ property: GeneratedProperty, access: String) {
        let key = "\(keys).\(SwiftNames.identifier(property.name))"
        let head = "    \(access)var \(SwiftNames.identifier(property.name)): \(property.type)"
        switch property.access {
        case .typed, .object:
            let label = property.access == .object ? "object: " : ""
            lines += [
                "\(head) {",
                "        get { self[\(label)\(key)] }",
                "        set { self[\(label)\(key)] = newValue }",
                "    }",
            ]
        case .fetched: lines.append("\(head) { self[fetched: \(key)] }")
        }
    }

    /// Writes the functions as Xcode declares them, in its order.
    private mutating func writeMembers(_ property: GeneratedProperty, access: String) {
        let key = "\(keys).\(SwiftNames.identifier(property.name))"
        let suffix = SwiftNames.capitalized(property.name)
        let member = SwiftNames.identifier(property.destinationClass ?? SwiftNames.baseClass)
        func function(_ signature: String, _ body: String) {
            lines.append("    \(access)func \(signature) { \(body) }")
        }
        let set: String
        if property.members == .ordered {
            set = "NSOrderedSet"
            function("insertInto\(suffix)(_ value: \(member), at idx: Int)", "insert(value, into: \(key), at: idx)")
            function("removeFrom\(suffix)(at idx: Int)", "remove(at: idx, from: \(key))")
            function(
                "insertInto\(suffix)(_ values: [\(member)], at indexes: NSIndexSet)",
                "insert(values, into: \(key), at: indexes)")
            function("removeFrom\(suffix)(at indexes: NSIndexSet)", "remove(at: indexes, from: \(key))")
            function(
                "replace\(suffix)(at idx: Int, with value: \(member))", "replace(at: idx, with: value, in: \(key))")
            function(
                "replace\(suffix)(at indexes: NSIndexSet, with values: [\(member)])",
                "replace(at: indexes, with: values, in: \(key))")
        } else {
            set = "NSSet"
        }
        function("addTo\(suffix)(_ value: \(member))", "add(value, to: \(key))")
        function("removeFrom\(suffix)(_ value: \(member))", "remove(value, from: \(key))")
        function("addTo\(suffix)(_ values: \(set))", "add(values, to: \(key))")
        function("removeFrom\(suffix)(_ values: \(set))", "remove(values, from: \(key))")
    }

    private mutating func writeRequest(in container: String, as kind: String) {
        lines += [
            "nonisolated extension \(container) {",
            "    \(access)\(kind) func fetchRequest() -> NSFetchRequest<\(name)> {",
            "        return NSFetchRequest<\(name)>(entityName: \(SwiftNames.literal(generated.entityName)))",
            "    }",
            "}",
            "",
        ]
    }

    /// Writes the fetch request of a class that has subclasses.
    ///
    /// If it were a method of the class, the subclasses' methods would have the same name and another type, and a call
    /// would be ambiguous. Swift prefers a method of a class to one of a protocol, and one of a protocol to one of its
    /// parent protocol.
    private mutating func writeInheritableRequest() {
        let protocolName = "_\(generated.name)Fetching"
        let parent = generated.generatedAncestor.map { "_\($0)Fetching" } ?? SwiftNames.baseClass
        lines += [
            "/// Has `fetchRequest()` of \(generated.name), so that the classes below it can have their own.",
            "nonisolated \(access)protocol \(protocolName): \(parent) {}", "",
        ]
        writeRequest(in: protocolName, as: "static")
        lines += ["nonisolated extension \(name): \(protocolName) {}", ""]
    }

    private mutating func writeKeys() {
        guard !generated.properties.isEmpty else { return }
        lines += ["", "nonisolated private enum \(keys) {"]
        for property in generated.properties {
            let name = SwiftNames.identifier(property.name)
            lines.append(
                "    static let \(name) = PropertyKey<\(property.keyType)>(\(SwiftNames.literal(property.name)))")
        }
        lines.append("}")
    }

    private mutating func writeKeyPaths() {
        lines.append("/// Tells sort descriptors and expressions what the key paths of \(generated.name) are called.")
        lines.append("nonisolated final class _\(generated.name)KeyPaths: ManagedKeyPaths {")
        if generated.keyPaths.isEmpty {
            lines += ["    override class var names: [AnyKeyPath: String] { [:] }", "}"]
            return
        }
        lines += ["    override class var names: [AnyKeyPath: String] {", "        ["]
        lines += generated.keyPaths.map { "            \($0.path): \(SwiftNames.literal($0.key))," }
        lines += ["        ]", "    }", "}"]
    }
}
