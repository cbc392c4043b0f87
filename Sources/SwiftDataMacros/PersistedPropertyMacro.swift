import SwiftSyntax
import SwiftSyntaxMacros

/// `@_PersistedProperty(index)`: the accessors of a persisted property, which read and write the backing data.
struct PersistedPropertyMacro: AccessorMacro, PeerMacro {
    static let formatMode = FormatMode.disabled

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "").map { [$0.accessors] } ?? []
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PersistedAccessors(node, declaration, infix: "")?.peers ?? []
    }
}

/// `@_TransformablePersistedProperty(index)`: the same for a value that goes through a value transformer.
struct TransformablePersistedPropertyMacro: AccessorMacro, PeerMacro {
    static let formatMode = FormatMode.disabled

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        PersistedAccessors(node, declaration, infix: "Transformable").map { [$0.accessors] } ?? []
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PersistedAccessors(node, declaration, infix: "Transformable")?.peers ?? []
    }
}

/// The text of a persisted property's accessors and peers.
private struct PersistedAccessors {
    private let index: String
    private let identifier: TokenSyntax
    /// What the declaration observes; `nil` for a property without `willSet` and `didSet`.
    private let observers: PropertyObservers?
    /// What the names of the backing data's functions have in them: nothing, or `Transformable`.
    private let infix: String

    init?(_ attribute: AttributeSyntax, _ declaration: some DeclSyntaxProtocol, infix: String) {
        guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self),
            let index = attribute.labeledArguments.first?.expression.trimmedDescription
        else { return nil }
        self.index = index
        identifier = pattern.identifier.trimmed
        observers = PropertyObservers(variable.bindings.first?.accessorBlock, of: pattern.identifier.unescaped)
        self.infix = infix
    }

    private var name: String { identifier.unescaped }

    var accessors: AccessorDeclSyntax {
        let key = "Self._$key_\(name), \(index)"
        return AccessorDeclSyntax(
            text: """
                @storageRestrictions(accesses: _$backingData, initializes: _\(name))
                init(initialValue) {
                    _$backingData._initialize\(infix)(\(index), to: initialValue)
                    _\(name) = _SwiftDataNoType()
                }
                get {
                    if SwiftData._ModelObservation.isTracking { access(keyPath: \\.\(identifier)) }
                    return _$backingData._read\(infix)(\(key))
                }
                set {
                \(setter(key))
                }
                """)
    }

    private func setter(_ key: String) -> String {
        let write = """
                guard _$observation.isObserved else {
                    return _$backingData._write\(infix)(newValue, \(key), of: self)
                }
                withMutation(keyPath: \\.\(identifier)) {
                    _$backingData._write\(infix)(newValue, \(key), of: self)
                }
            """
        guard let observers else { return write }
        return observers.setter(
            writing: write, isRunning: "_$isObserving_\(name)",
            reading: "_$backingData._read\(infix)(\(key))")
    }

    /// Not isolated, because contexts make models on any queue; see ``ModelMembers``.
    var peers: [DeclSyntax] {
        // Without an initial value, an initializer's first assignment calls no observer.
        var peers = [
            "private nonisolated(unsafe) var _\(name): _SwiftDataNoType\(observers == nil ? " = .init()" : "")",
            "private nonisolated static let _$key_\(name) = SwiftData._ModelKey(\"\(name)\")",
        ]
        if observers != nil { peers.append("private nonisolated(unsafe) var _$isObserving_\(name) = false") }
        return peers.map { DeclSyntax(text: $0) }
    }
}
