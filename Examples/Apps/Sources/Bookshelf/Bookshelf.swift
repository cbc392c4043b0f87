// The app's sources are those of its Xcode project, in Apple/Bookshelf: CoreDataPortPlugin compiles copies of them.
// What only this platform needs goes here.
