import CObjectRuntime
@_spi(Reflection) import Swift

/// The stored properties that an application's class adds to a class whose initialisers cannot run. Their initial
/// values are code that cannot be called, so only properties that are nil by default behave as on Apple's platforms.
struct StoredProperties {
    /// The first property whose initial value is not known: it has a neutral value now.
    private(set) var unknown: String?

    /// Makes the properties of an instance with zero bytes valid.
    ///
    /// If not even a neutral value of a property is known, the program stops: there is no valid instance.
    init(of type: AnyClass, below base: AnyClass, in memory: UnsafeMutableRawPointer) {
        let start = ocd_instance_size(unsafeBitCast(base, to: UnsafeRawPointer.self))
        guard ocd_instance_size(unsafeBitCast(type, to: UnsafeRawPointer.self)) > start else { return }
        var unknown: String?
        // 1: a class's.
        _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { name, offset, fieldType, _ in
            guard offset >= start else { return true }
            switch Self.fill(fieldType, memory.advanced(by: offset)) {
            case .asDeclared: break
            case .neutral: unknown = unknown ?? String(cString: name)
            case .impossible:
                preconditionFailure(Self.message(type, String(cString: name)))
            }
            return true
        }
        self.unknown = unknown
    }

    static func message(_ type: AnyClass, _ property: String) -> String {
        """
        \(type) has the stored property '\(property)', whose initial value cannot be set: its superclass has no initialiser \
        off Apple's platforms. Make the property optional or computed, or keep its value elsewhere
        """
    }

    private enum Outcome {
        case asDeclared
        case neutral
        case impossible
    }

    private static func fill(_ type: Any.Type, _ memory: UnsafeMutableRawPointer) -> Outcome {
        switch type {
        case let type as any ExpressibleByNilLiteral.Type:
            initialize(memory, type)
            return .asDeclared
        case let type as any RangeReplaceableCollection.Type: initialize(memory, type)
        case let type as any SetAlgebra.Type: initialize(memory, type)
        case let type as any AdditiveArithmetic.Type: initialize(memory, type)
        case let type as any EmptyDictionary.Type: initialize(memory, type)
        case is Bool.Type: memory.initializeMemory(as: Bool.self, to: false)
        default: return size(of: type) == 0 ? .asDeclared : .impossible
        }
        return .neutral
    }

    private static func size(of type: Any.Type) -> Int {
        func size<T>(_: T.Type) -> Int { MemoryLayout<T>.size }
        return _openExistential(type, do: size)
    }

    private static func initialize<T: ExpressibleByNilLiteral>(_ memory: UnsafeMutableRawPointer, _: T.Type) {
        memory.initializeMemory(as: T.self, to: nil)
    }

    private static func initialize<T: RangeReplaceableCollection>(_ memory: UnsafeMutableRawPointer, _: T.Type) {
        memory.initializeMemory(as: T.self, to: T())
    }

    private static func initialize<T: SetAlgebra>(_ memory: UnsafeMutableRawPointer, _: T.Type) {
        memory.initializeMemory(as: T.self, to: T())
    }

    private static func initialize<T: AdditiveArithmetic>(_ memory: UnsafeMutableRawPointer, _: T.Type) {
        memory.initializeMemory(as: T.self, to: .zero)
    }

    private static func initialize<T: EmptyDictionary>(_ memory: UnsafeMutableRawPointer, _: T.Type) {
        memory.initializeMemory(as: T.self, to: T())
    }
}

private protocol EmptyDictionary { init() }

extension Dictionary: EmptyDictionary {}
