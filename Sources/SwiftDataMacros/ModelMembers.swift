import SwiftSyntax

/// The members that `@Model` adds to a class.
///
/// A subclass of a model has backing data and an observation of its own, for its own properties. So no index depends on
/// another class.
///
/// All members are `nonisolated`: a class with `@MainActor`, or one that inherits from such a class, is a model like
/// others. Contexts make its instances on their queues. Its own properties stay isolated.
struct ModelMembers {
    private let model: ModelDeclaration
    private let isSubclass: Bool

    init(_ model: ModelDeclaration, isSubclass: Bool) {
        self.model = model
        self.isSubclass = isSubclass && model.firstInheritedType != nil
    }

    private var name: String { model.name }
    private var access: String { model.access }
    /// The topmost model class, which types the backing data of all its subclasses.
    private var root: String {
        isSubclass ? "\(model.firstInheritedType?.description ?? name).Root" : name
    }

    /// The text of each member.
    var declarations: [String] { members + (isSubclass ? [] : rootMembers) }

    private var members: [String] {
        [
            """
            @exclusivity(unchecked) private nonisolated(unsafe) var _$backingData = SwiftData.DefaultBackingData<\(root)>(for: \(name).self)
            """,
            persistentBackingData, schemaMetadata, initializer, attachment,
            """
            @exclusivity(unchecked) private nonisolated(unsafe) var _$observation = SwiftData._ModelObservation()
            """,
            """
            nonisolated func access<_M>(keyPath: KeyPath<\(name), _M>) {
                _$observation.access(self, keyPath: keyPath)
            }
            """,
            """
            nonisolated func withMutation<_M, _T>(keyPath: KeyPath<\(name), _M>, _ mutation: () throws -> _T) rethrows -> _T {
                try _$observation.withMutation(of: self, keyPath: keyPath, mutation)
            }
            """,
            notification,
            "nonisolated struct _SwiftDataNoType {}",
        ]
    }

    /// The members that subclasses inherit.
    private var rootMembers: [String] {
        ["\(access)nonisolated var _$object: SwiftData.ModelObject? { _$backingData._object }"]
            + (model.isFinal ? directMaking : [making])
    }

    /// How contexts make a model of an object.
    private var making: String {
        """
        \(access)nonisolated static func _make(_ object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) -> Self {
            Self(backingData: SwiftData.DefaultBackingData<\(name)>(_object: object, context))
        }
        """
    }

    /// The same for a class without subclasses: without an existential, which costs a third of the work.
    private var directMaking: [String] {
        let body =
            model.properties.map { "    _\($0.name) = _SwiftDataNoType()" } + [
                "    _$backingData = SwiftData.DefaultBackingData(_object: object, context)"
            ]
        return [
            """
            \(access)nonisolated static func _make(_ object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) -> Self {
                Self(_$object: object, context)
            }
            """,
            """
            private nonisolated init(_$object object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) {
            \(body.joined(separator: "\n"))
            }
            """,
        ]
    }

    private var persistentBackingData: String {
        if !isSubclass {
            return """
                \(access)nonisolated var persistentBackingData: any SwiftData.BackingData<\(name)> {
                    get { _$backingData }
                    set { _$backingData = SwiftData.DefaultBackingData(adopting: newValue) }
                }
                """
        }
        return """
            \(access)nonisolated override var persistentBackingData: any SwiftData.BackingData<\(root)> {
                get { super.persistentBackingData }
                set {
                    super.persistentBackingData = newValue
                    _$backingData._adopt(newValue)
                }
            }
            """
    }

    /// Each element is a statement of its own, so that the time to type-check grows with the number of properties only.
    private var schemaMetadata: String {
        let kind = (isSubclass ? "override " : "") + (model.isFinal && !isSubclass ? "static" : "class")
        var lines = model.properties.map { "    metadata.append(\($0.metadata(of: name)))" }
        lines += model.constraints.map { constraint in
            """
                metadata.append(SwiftData.Schema.PropertyMetadata(name: "SwiftData.Schema.\(constraint.kind)", \
            keypath: \\SwiftData.Schema.encodingVersion, defaultValue: nil, \
            metadata: SwiftData.Schema.\(constraint.kind)<\(name)>(\(constraint.arguments))))
            """
        }
        guard !lines.isEmpty else {
            return "\(access)nonisolated \(kind) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] { [] }"
        }
        // Key paths of isolated properties can be made on the actor only.
        let body = ["    var metadata: [SwiftData.Schema.PropertyMetadata] = []"] + lines + ["    return metadata"]
        return """
            \(access)nonisolated \(kind) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
                SwiftData._modelMetadata {
            \(body.joined(separator: "\n"))
                }
            }
            """
    }

    private var initializer: String {
        var body = model.properties.map { "    _\($0.name) = _SwiftDataNoType()" }
        if isSubclass { body.append("    super.init(backingData: backingData)") }
        body.append("    _$backingData = SwiftData.DefaultBackingData(adopting: backingData)")
        return """
            \(access)nonisolated \(isSubclass || !model.isFinal ? "required " : "")init(backingData: any SwiftData.BackingData<\(root)>) {
            \(body.joined(separator: "\n"))
            }
            """
    }

    private var attachment: String {
        let above = isSubclass ? "\n    super._attach(object, context)" : ""
        return """
            \(access)nonisolated \(isSubclass ? "override " : "")func _attach(_ object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) {\(above)
                _$backingData._attach(object, context)
            }
            """
    }

    private var notification: String {
        let above = isSubclass ? "super._withMutation(of: keyPath, mutation)" : "mutation()"
        return """
            \(access)nonisolated \(isSubclass ? "override " : "")func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void) {
                _$observation.withMutation(of: self, anyKeyPath: keyPath) { \(above) }
            }
            """
    }
}
