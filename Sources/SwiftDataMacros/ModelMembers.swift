import SwiftSyntax

/// The members that `@Model` adds to a class.
///
/// A subclass of a model has backing data and an observation of its own, for its own properties. So no index depends on another
/// class.
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
    var declarations: [String] {
        [
            """
            @exclusivity(unchecked) private var _$backingData = SwiftData.DefaultBackingData<\(root)>(for: \(name).self)
            """,
            persistentBackingData, schemaMetadata, initializer, attachment,
            """
            @exclusivity(unchecked) private var _$observation = SwiftData._ModelObservation()
            """,
            """
            func access<_M>(keyPath: KeyPath<\(name), _M>) {
                _$observation.access(self, keyPath: keyPath)
            }
            """,
            """
            func withMutation<_M, _T>(keyPath: KeyPath<\(name), _M>, _ mutation: () throws -> _T) rethrows -> _T {
                try _$observation.withMutation(of: self, keyPath: keyPath, mutation)
            }
            """,
            notification,
            "struct _SwiftDataNoType {}",
        ]
    }

    private var persistentBackingData: String {
        if !isSubclass {
            return """
                \(access)var persistentBackingData: any SwiftData.BackingData<\(name)> {
                    get { _$backingData }
                    set { _$backingData = SwiftData.DefaultBackingData(adopting: newValue) }
                }
                """
        }
        return """
            \(access)override var persistentBackingData: any SwiftData.BackingData<\(root)> {
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
        let body = ["    var metadata: [SwiftData.Schema.PropertyMetadata] = []"] + lines + ["    return metadata"]
        guard !lines.isEmpty else {
            return "\(access)\(kind) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] { [] }"
        }
        return """
            \(access)\(kind) var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
            \(body.joined(separator: "\n"))
            }
            """
    }

    private var initializer: String {
        var body = model.properties.map { "    _\($0.name) = _SwiftDataNoType()" }
        if isSubclass { body.append("    super.init(backingData: backingData)") }
        body.append("    _$backingData = SwiftData.DefaultBackingData(adopting: backingData)")
        return """
            \(access)\(isSubclass || !model.isFinal ? "required " : "")init(backingData: any SwiftData.BackingData<\(root)>) {
            \(body.joined(separator: "\n"))
            }
            """
    }

    private var attachment: String {
        let above = isSubclass ? "\n    super._attach(object)" : ""
        return """
            \(access)\(isSubclass ? "override " : "")func _attach(_ object: SwiftData.ModelObject) {\(above)
                _$backingData._attach(object)
            }
            """
    }

    private var notification: String {
        let above = isSubclass ? "super._withMutation(of: keyPath, mutation)" : "mutation()"
        return """
            \(access)\(isSubclass ? "override " : "")func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void) {
                _$observation.withMutation(of: self, anyKeyPath: keyPath) { \(above) }
            }
            """
    }
}
