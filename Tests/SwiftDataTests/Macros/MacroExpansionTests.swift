import Foundation
import Testing

/// What the macros expand to, as text.
@Suite(.enabled(if: MacroCompiler.isAvailable, Comment(rawValue: MacroCompiler.missing)))
struct MacroExpansionTests {
    private static let source = """
        import Foundation
        import SwiftData

        @available(macOS 15, *)
        @Model public final class Item {
            #Unique<Item>([\\.code])
            #Index<Item>([\\.code], [\\.code, \\.count])
            @Attribute(.unique, originalName: "c") public var code: String
            var count = 1
            @Attribute(.transformable(by: "T")) var color: [Int] = []
            @Transient var isOpen = false
            var total = 0 {
                willSet { print(code) }
                didSet(before) { if before > total { return }; print(before) }
            }
            init(code: String) { self.code = code }
        }

        enum V1 {
            @Model class Base {
                var kind: Kind? = .plain
                init() {}
            }
        }
        enum Kind: String, Codable { case plain }

        @Model final class Derived: V1.Base {
            @Relationship(deleteRule: .cascade, inverse: \\Part.whole) var parts: [Part]
            init(parts: [Part]) { self.parts = parts; super.init() }
        }

        @Model final class Part {
            var whole: Derived?
            init() {}
        }

        @ModelActor public actor Worker {}
        """

    /// Only the text matters, not how the formatter breaks lines.
    private static func words(_ text: some StringProtocol) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static let expansion = Result {
        let output = try MacroCompiler.check(source, flags: ["-Xfrontend", "-dump-macro-expansions"])
        #expect(output.diagnostics == [])
        return words(output.log)
    }

    @Test(arguments: [
        // Accessors.
        """
        {
            @storageRestrictions(accesses: _$backingData, initializes: _code)
            init(initialValue) {
                _$backingData._initialize(0, to: initialValue)
                _code = _SwiftDataNoType()
            }
            get {
                if SwiftData._ModelObservation.isTracking {
                    access(keyPath: \\.code)
                }
                return _$backingData._read(Self._$key_code, 0)
            }
            set {
                guard _$observation.isObserved else {
                    return _$backingData._write(newValue, Self._$key_code, 0, of: self)
                }
                withMutation(keyPath: \\.code) {
                    _$backingData._write(newValue, Self._$key_code, 0, of: self)
                }
            }
        }
        """,
        "private nonisolated(unsafe) var _code: _SwiftDataNoType = .init()",
        "private nonisolated static let _$key_code = SwiftData._ModelKey(\"code\")",
        "return _$backingData._readTransformable(Self._$key_color, 2)",
        "@SwiftData._PersistedProperty(1)",
        "@SwiftData._TransformablePersistedProperty(2)",
        // Observers.
        """
        set {
            func _$write() {
                guard _$observation.isObserved else {
                    return _$backingData._write(newValue, Self._$key_total, 3, of: self)
                }
                withMutation(keyPath: \\.total) {
                    _$backingData._write(newValue, Self._$key_total, 3, of: self)
                }
            }
            guard !_$isObserving_total else {
                return _$write()
            }
            _$isObserving_total = true
            defer {
                _$isObserving_total = false
            }
            let _$oldValue = SwiftData._value(_$backingData._read(Self._$key_total, 3), like: newValue)
            SwiftData._observe(()) { _ in
                print(code)
            }
            _$write()
        """,
        "SwiftData._observe(_$oldValue) { before in if before > self.total { return }; print(before) }",
        "private nonisolated(unsafe) var _$isObserving_total = false",
        // Members.
        "@exclusivity(unchecked) private nonisolated(unsafe) var _$backingData = SwiftData.DefaultBackingData<Item>(for: Item.self)",
        """
        public nonisolated var persistentBackingData: any SwiftData.BackingData<Item> {
            get { _$backingData }
            set { _$backingData = SwiftData.DefaultBackingData(adopting: newValue) }
        }
        """,
        """
        public nonisolated static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
            SwiftData._modelMetadata {
            var metadata: [SwiftData.Schema.PropertyMetadata] = []
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "code", keypath: \\Item.code, \
        defaultValue: nil, metadata: SwiftData.Schema.Attribute(.unique, originalName: "c")))
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "count", keypath: \\Item.count, \
        defaultValue: 1, metadata: nil))
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "color", keypath: \\Item.color, \
        defaultValue: ([]) as [Int], metadata: SwiftData.Schema.Attribute(.transformable(by: "T"))))
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "total", keypath: \\Item.total, \
        defaultValue: 0, metadata: nil))
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "SwiftData.Schema.Index", \
        keypath: \\SwiftData.Schema.encodingVersion, defaultValue: nil, \
        metadata: SwiftData.Schema.Index<Item>([\\.code], [\\.code, \\.count])))
            metadata.append(SwiftData.Schema.PropertyMetadata(name: "SwiftData.Schema.Unique", \
        keypath: \\SwiftData.Schema.encodingVersion, defaultValue: nil, \
        metadata: SwiftData.Schema.Unique<Item>([\\.code])))
            return metadata
            }
        }
        """,
        """
        public nonisolated init(backingData: any SwiftData.BackingData<Item>) {
            _code = _SwiftDataNoType()
            _count = _SwiftDataNoType()
            _color = _SwiftDataNoType()
            _total = _SwiftDataNoType()
            _$backingData = SwiftData.DefaultBackingData(adopting: backingData)
        }
        """,
        // How contexts make models of objects.
        """
        public nonisolated static func _make(_ object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) -> Self {
            Self(_$object: object, context)
        }
        """,
        """
        private nonisolated init(_$object object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) {
            _code = _SwiftDataNoType()
            _count = _SwiftDataNoType()
            _color = _SwiftDataNoType()
            _total = _SwiftDataNoType()
            _$backingData = SwiftData.DefaultBackingData(_object: object, context)
        }
        """,
        """
        nonisolated static func _make(_ object: SwiftData.ModelObject, _ context: SwiftData.ModelContext) -> Self {
            Self(backingData: SwiftData.DefaultBackingData<Base>(_object: object, context))
        }
        """,
        "public nonisolated var _$object: SwiftData.ModelObject? { _$backingData._object }",
        "defaultValue: (.plain) as Kind?, metadata: nil",
        // Extensions.
        "@available(macOS 15, *) extension Item: nonisolated SwiftData.PersistentModel",
        "extension V1.Base: nonisolated SwiftData.PersistentModel",
        // Classes that others inherit from, and those that inherit.
        "nonisolated class var schemaMetadata: [SwiftData.Schema.PropertyMetadata]",
        "nonisolated required init(backingData: any SwiftData.BackingData<Base>)",
        "@exclusivity(unchecked) private nonisolated(unsafe) var _$backingData = SwiftData.DefaultBackingData<V1.Base.Root>(for: Derived.self)",
        "nonisolated override class var schemaMetadata: [SwiftData.Schema.PropertyMetadata]",
        "metadata: SwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \\Part.whole)",
        """
        nonisolated required init(backingData: any SwiftData.BackingData<V1.Base.Root>) {
            _parts = _SwiftDataNoType()
            super.init(backingData: backingData)
            _$backingData = SwiftData.DefaultBackingData(adopting: backingData)
        }
        """,
        // Actors.
        """
        public nonisolated let modelExecutor: any SwiftData.ModelExecutor
        public nonisolated let modelContainer: SwiftData.ModelContainer
        public init(modelContainer: SwiftData.ModelContainer) {
            let modelContext = SwiftData.ModelContext(modelContainer)
            self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
            self.modelContainer = modelContainer
        }
        """,
        "extension Worker: SwiftData.ModelActor",
    ])
    func expansionContains(text: String) throws {
        let expansion = try Self.expansion.get()
        #expect(expansion.contains(Self.words(text)))
    }

    @Test(arguments: ["_isOpen", "extension Derived:"])
    func expansionLacks(text: String) throws {
        #expect(try !Self.expansion.get().contains(text))
    }
}
