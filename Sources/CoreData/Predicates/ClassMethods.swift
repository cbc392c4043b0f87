import CObjectRuntime

/// The method table of a class: the words of its metadata, in the order in which the methods were declared, the
/// superclass's first.
///
/// ```
///    2 destroyer, 1 values │ kind │ superclass │ flags │ instance size │ sizes │ descriptor │ … │ methods …
///    before the address      0      1            2       3               4       5             6   7
/// ```
struct ClassMethods {
    private let words: UnsafeMutablePointer<UInt>
    private let indices: Range<Int>

    /// `nil` on platforms with another layout.
    init?(_ type: AnyClass) {
        #if os(Linux) && (arch(x86_64) || arch(arm64))
            words = unsafeBitCast(type, to: UnsafeMutablePointer<UInt>.self)
            let size = Int(words[4] & 0xFFFF_FFFF)
            let beforeAddress = Int(words[4] >> 32)
            guard beforeAddress >= 16, beforeAddress < 1 << 10, size > beforeAddress, size < 1 << 16 else { return nil }
            indices = 7..<max(7, (size - beforeAddress) / MemoryLayout<UInt>.size)
        #else
            return nil
        #endif
    }

    /// The current methods.
    var table: [Int: UInt] { Dictionary(uniqueKeysWithValues: indices.map { ($0, words[$0]) }) }

    /// The type's descriptor.
    var description: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: words[5]) }

    func canReplace(_ index: Int) -> Bool { indices.contains(index) && ocd_is_writable(words + index) }

    func replace(_ index: Int, by method: UInt) {
        guard indices.contains(index) else { return }
        let place = UnsafeMutableRawPointer(words + index).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        _ = ocd_replace_word(place, UnsafeMutableRawPointer(bitPattern: method))
    }
}

/// Methods that replace another class's methods: those that a class overrides.
struct MethodOverride {
    /// By index: the values of a class that inherits the method, and the replacement.
    private let methods: [Int: (old: Set<UInt>, new: UInt)]

    /// - Parameters:
    ///   - overriding: a subclass of `base` that overrides the methods to replace; never instantiated.
    ///   - count: the number of overridden methods; if another number is found, nothing is replaced.
    ///   - plain: two subclasses that override nothing: where they differ, for example in their initialisers, every
    ///     subclass does.
    init(_ overriding: AnyClass, count: Int, plain: (AnyClass, AnyClass), base: AnyClass) {
        guard let old = ClassMethods(base)?.table, let new = ClassMethods(overriding)?.table,
            let first = ClassMethods(plain.0)?.table, let second = ClassMethods(plain.1)?.table
        else {
            methods = [:]
            return
        }
        var found: [Int: (old: Set<UInt>, new: UInt)] = [:]
        for (index, method) in old {
            guard let inherited = first[index], inherited == second[index], let other = new[index], other != inherited
            else { continue }
            found[index] = ([method, inherited], other)
        }
        methods = found.count == count ? found : [:]
    }

    /// Whether there is something to replace.
    var isFound: Bool { !methods.isEmpty }

    /// Returns whether a class has the methods at the expected indexes, and can get others.
    func fits(_ type: AnyClass) -> Bool {
        guard isFound, let target = ClassMethods(type) else { return false }
        let table = target.table
        return methods.allSatisfy { index, method in
            table[index].map { method.old.contains($0) || $0 == method.new } ?? false && target.canReplace(index)
        }
    }

    /// Replaces the methods of `base` or a subclass of it, except those that the class itself overrides.
    func apply(to type: AnyClass) {
        guard let target = ClassMethods(type) else { return }
        for (index, present) in target.table {
            if let method = methods[index], method.old.contains(present) { target.replace(index, by: method.new) }
        }
    }

    /// Returns whether a class overrides one of these methods.
    func isOverridden(in type: AnyClass) -> Bool {
        guard let table = ClassMethods(type)?.table else { return false }
        return methods.contains { index, method in
            table[index].map { !method.old.contains($0) && $0 != method.new } ?? false
        }
    }
}
