/// The homes that a context used last, and the forms of the rows that it writes: shortcuts past lookups.
///
/// Rows, IDs and new objects of one entity come one after another. An ``ObjectHome`` is the place of an entity's
/// objects in one store.
///
/// Invariants:
/// - Each value can be looked up again: an empty cache costs time only.
/// - ``uncountedLast`` refers to the same home as ``last``. Use it only where nothing calls out, since a callback may
///   replace ``last``.
/// - ``lastNew`` and ``lastNewClass`` belong together: both have a value, or neither.
/// - When stores or coordinator change, ``forgetHomes()`` empties the homes, and a failed save empties ``rowForms``.
struct HomeCache {
    // Set the homes with the methods. The variables have no private setters: the compiler may read a variable without a
    // setter through a copy of the whole value, which counts a reference to each home.

    /// The home that was last found for an ID, or for a row.
    var last: ObjectHome?
    /// As ``last``, without a reference to be counted.
    var uncountedLast: Unmanaged<ObjectHome>?
    /// The home of the objects that `init(context:)` last inserted.
    var lastNew: ObjectHome?
    /// The class of those objects.
    var lastNewClass: ObjectIdentifier?
    /// The home of the objects that `init(entity:insertInto:)` last inserted.
    var lastInserted: ObjectHome?
    /// The forms of rows, by entity; made by the first save of each.
    var rowForms: [RowForm?] = []

    /// Remembers the home that was found for an ID, or for a row.
    @inline(__always)
    mutating func remember(_ home: ObjectHome) {
        last = home
        uncountedLast = .passUnretained(home)
    }

    /// Remembers where new objects of a class live.
    mutating func rememberNew(_ home: ObjectHome, of type: ObjectIdentifier) {
        lastNew = home
        lastNewClass = type
    }

    /// Forgets the homes: objects get new ones afterwards.
    mutating func forgetHomes() {
        (last, uncountedLast) = (nil, nil)
        (lastNew, lastNewClass, lastInserted) = (nil, nil, nil)
    }
}
