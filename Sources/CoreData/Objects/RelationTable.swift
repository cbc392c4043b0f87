import Foundation

/// A relationship of an object, as far as it has been looked at.
enum RelationValue {
    /// The row has the value; a new object has none.
    case unread
    case toOne(NSManagedObject?)
    case toMany(ToManyMembers)
}

/// The known relationships of an object, by their position. Needs no memory until a second relationship is read.
///
/// ```
///  0                                     none has been read
///  address │ 0 │ position │ 1           one to-one has; no address: it is nil
///  address │ 1 │ position │ 1           one to-many has: the address of its members
///  60 bits       2 bits
///  address of a table: ┌───────┬────────────┬────────────┬─      0                        unread
///                      │ count │ relation 0 │ relation 1 │ …     1                        a to-one that is nil
///                      └───────┴────────────┴────────────┴─      address of an object     a to-one
///                                                                address of members + 2   a to-many
/// ```
/// It belongs to one object, which empties it before it is deallocated. A copy, as a loop makes one, is valid only
/// until then. It consists of words and not of an array of ``RelationValue``, because reading such an array would count
/// references. The words hold the references.
///
/// As a collection it contains the relationships up to the last one that was read.
struct RelationTable: RandomAccessCollection {
    private var word: UInt = 0

    private static var noObject: UInt { 1 }
    private static var membersTag: UInt { 2 }

    /// Whether none has been looked at.
    var isEmpty: Bool { word == 0 }
    var startIndex: Int { 0 }
    var endIndex: Int { isSingle ? singleIndex + 1 : table.map { Int($0.pointee) } ?? 0 }

    subscript(index: Int) -> RelationValue {
        if let members = uncountedMembers(index) { return .toMany(members.takeUnretainedValue()) }
        return isRead(index) ? .toOne(uncountedToOne(index)?.takeUnretainedValue()) : .unread
    }

    // MARK: Without counting references

    /// Whether it has been looked at.
    @inline(__always)
    func isRead(_ index: Int) -> Bool {
        if isSingle { return singleIndex == index }
        guard let place = place(index) else { return false }
        return place.pointee != 0
    }

    /// The destination of a to-one that has been looked at; valid until another one is set.
    @inline(__always)
    func uncountedToOne(_ index: Int) -> Unmanaged<NSManagedObject>? {
        if isSingle { return singleIndex == index && !isSingleToMany ? Self.object(singleAddress) : nil }
        guard let word = place(index)?.pointee, word & Self.membersTag == 0 else { return nil }
        return Self.object(word & ~Self.noObject)
    }

    /// The members of a to-many that has been looked at; valid until it is forgotten.
    @inline(__always)
    func uncountedMembers(_ index: Int) -> Unmanaged<ToManyMembers>? {
        if isSingle {
            guard singleIndex == index, isSingleToMany else { return nil }
            return .fromOpaque(UnsafeRawPointer(bitPattern: singleAddress).unsafelyUnwrapped)
        }
        guard let word = place(index)?.pointee, word & Self.membersTag != 0 else { return nil }
        return .fromOpaque(UnsafeRawPointer(bitPattern: word & ~Self.membersTag).unsafelyUnwrapped)
    }

    // MARK: Setting

    /// `count` is always how many relationships the object has.
    @inline(__always)
    mutating func setToOne(_ index: Int, _ object: NSManagedObject?, of count: Int) {
        takeToOne(index, object.map(Self.retained) ?? 0, of: count)
    }

    /// Sets a to-one to the address of an object that was retained for this, or 0.
    @inline(__always)
    mutating func takeToOne(_ index: Int, _ address: UInt, of count: Int) {
        if word == 0 || isSingle && singleIndex == index, let new = Self.single(index, address) {
            let old = singleAddress
            word = new
            Self.release(old)
        } else {
            replace(index, address == 0 ? Self.noObject : address, of: count)
        }
    }

    /// The relationship must not have been looked at.
    mutating func setMembers(_ index: Int, _ members: ToManyMembers, of count: Int) {
        assert(!isRead(index), "the relationship has members already")
        let address = Self.retained(members)
        if word == 0, let new = Self.single(index, address) {
            word = new | Self.singleToManyTag
        } else {
            replace(index, address | Self.membersTag, of: count)
        }
    }

    /// The relationship is as if it had not been looked at.
    mutating func forget(_ index: Int) {
        guard isRead(index) else { return }
        if isSingle { removeAll() } else { replace(index, 0, of: endIndex) }
    }

    mutating func removeAll() {
        guard word != 0 else { return }
        let old = self
        // Cleared first: code that runs when the last reference is released finds it empty.
        word = 0
        guard let table = old.table else { return Self.release(old.singleAddress) }
        for index in 0..<Int(table.pointee) { Self.release(table[1 + index]) }
        free(table)
    }

    // MARK: Words

    private static func retained(_ object: some AnyObject) -> UInt {
        UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
    }

    @inline(__always)
    private static func object(_ address: UInt) -> Unmanaged<NSManagedObject>? {
        UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
    }

    @inline(__always)
    private static func release(_ word: UInt) {
        guard word > noObject else { return }
        Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: word & ~membersTag).unsafelyUnwrapped).release()
    }

    // MARK: A single one

    private static var singleToManyTag: UInt { 8 }

    @inline(__always)
    private var isSingle: Bool { word & 1 != 0 }
    @inline(__always)
    private var isSingleToMany: Bool { word & Self.singleToManyTag != 0 }
    @inline(__always)
    private var singleIndex: Int { Int(word >> 1 & 3) }
    @inline(__always)
    private var singleAddress: UInt { word & ~15 }

    /// `nil` for a position of more than two bits, and where objects do not lie at multiples of 16.
    @inline(__always)
    private static func single(_ index: Int, _ address: UInt) -> UInt? {
        index < 4 && address & 15 == 0 ? address | UInt(index) << 1 | 1 : nil
    }

    // MARK: A table

    @inline(__always)
    private var table: UnsafeMutablePointer<UInt>? { isSingle ? nil : UnsafeMutablePointer(bitPattern: word) }

    @inline(__always)
    private func place(_ index: Int) -> UnsafeMutablePointer<UInt>? {
        assert(index >= 0 && (word == 0 || index < endIndex), "no such relationship")
        guard let table = UnsafeMutablePointer<UInt>(bitPattern: word) else { return nil }
        return table + 1 + index
    }

    private mutating func replace(_ index: Int, _ new: UInt, of count: Int) {
        if isSingle || word == 0 { makeTable(count) }
        guard let place = place(index) else { return }
        let old = place.pointee
        place.pointee = new
        Self.release(old)
    }

    /// Makes a table with the single one, if there is one.
    private mutating func makeTable(_ count: Int) {
        guard let made = calloc(count + 1, MemoryLayout<UInt>.stride) else { fatalError("out of memory") }
        let table = made.bindMemory(to: UInt.self, capacity: count + 1)
        table.pointee = UInt(count)
        if isSingle {
            let address = singleAddress == 0 ? Self.noObject : singleAddress
            table[1 + singleIndex] = isSingleToMany ? address | Self.membersTag : address
        }
        word = UInt(bitPattern: table)
    }
}
