#!/bin/sh
# Fetches one Debian source package into a cache folder and compiles it with a compiler that keeps
# the preprocessed text of every C file. Usage: build.sh CACHE PACKAGE. Nothing outside of CACHE is
# changed.
set -eu
cache=$1
package=$2
suite=bookworm
# The pool no longer has the source of this one for the suite.
newer=trixie
case $package in privoxy) release=$newer ;; *) release=$suite ;; esac
units=$cache/units/$package
[ -e "$units/.done" ] && exit 0

# An apt of our own, with the sources of Debian and no state of the machine's.
apt=$cache/apt
if [ ! -e "$apt/ready" ]; then
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  key=/usr/share/keyrings/debian-archive-keyring.gpg
  for what in "deb $suite" "deb-src $suite" "deb-src $newer"; do
    echo "${what% *} [signed-by=$key] http://deb.debian.org/debian ${what#* } main"
  done > "$apt/sources.list"
  cat > "$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
END
  [ "$(id -u)" = 0 ] && echo 'APT::Sandbox::User "root";' >> "$apt/apt.conf"
  APT_CONFIG=$apt/apt.conf apt-get -q update
  touch "$apt/ready"
fi
export APT_CONFIG=$apt/apt.conf

# The tools that packages are configured with, unpacked and told where they are.
tools=$cache/tools
if [ ! -e "$tools/ready" ]; then
  mkdir -p "$cache/debs"
  (cd "$cache/debs" && apt-get -q download autoconf automake autotools-dev autopoint gettext libtool \
    m4 libsigsegv2 flex bison ed libpcre3-dev pkgconf pkgconf-bin libpkgconf3 texinfo)
  for deb in "$cache"/debs/*.deb; do dpkg -x "$deb" "$tools"; done
  (cd "$tools/usr" && grep -rlI '/usr/\(share\|bin\)/' bin share/autoconf share/automake* share/libtool \
    share/bison share/gettext | xargs sed -i "s#/usr/share/\(auto\|aclocal\|libtool\|bison\|gettext\)#$tools&#g; s#/usr/bin/m4#$tools&#g")
  (cd "$tools/usr/bin" && ln -sf automake-1.16 automake && ln -sf aclocal-1.16 aclocal && ln -sf pkgconf pkg-config)
  touch "$tools/ready"
fi
export PATH="$tools/usr/bin:$PATH" M4="$tools/usr/bin/m4" BISON_PKGDATADIR="$tools/usr/share/bison"
export LD_LIBRARY_PATH="$tools/usr/lib/x86_64-linux-gnu" LIBRARY_PATH="$tools/usr/lib/x86_64-linux-gnu" AUTOM4TE="$tools/usr/bin/autom4te"
export ACLOCAL="$tools/usr/bin/aclocal -I $tools/usr/share/aclocal" CPATH="$tools/usr/include"
export AUTOCONF="$tools/usr/bin/autoconf" AUTOHEADER="$tools/usr/bin/autoheader"
export AUTOMAKE="$tools/usr/bin/automake" AUTOPOINT="$tools/usr/bin/autopoint"
export LIBTOOLIZE="$tools/usr/bin/libtoolize" gettext_datadir="$tools/usr/share/gettext"

cat > "$cache/cc" <<'END'
#!/bin/sh
# The compiler, which also keeps the preprocessed text of what it compiles.
source=
compiles=
for word; do
  case $word in
    *conftest*) exec gcc "$@" ;;
    *.c) source=$word ;;
    -c) compiles=1 ;;
  esac
done
if [ -n "$source" ] && [ -n "$compiles" ] && [ -n "${UNITS:-}" ]; then
  kept=$UNITS/$(echo "$(basename "$PWD")/$source" | tr '/' '_').i
  (
    # The same arguments without the name of the object.
    left=$#
    while [ "$left" -gt 0 ]; do
      word=$1
      shift
      left=$((left - 1))
      case $word in
        -o) shift && left=$((left - 1)) ;;
        *) set -- "$@" "$word" ;;
      esac
    done
    gcc "$@" -E -o "$kept" 2> /dev/null || rm -f "$kept"
  )
fi
exec gcc "$@"
END
chmod +x "$cache/cc"

mkdir -p "$cache/src" "$units"
cd "$cache/src"
if [ ! -d "$package" ]; then
  apt-get -q source --download-only "$package/$release"
  dpkg-source --no-check -x "$package"_*.dsc "$package"
fi
cd "$package"
export CC="$cache/cc"
quiet="CFLAGS=-O1 -w"
autotools() {
  # What is generated from what is not touched: times in archives would have it made again.
  [ -x configure ] || autoreconf -fi
  find . -name '*.in' -o -name configure -o -name aclocal.m4 | xargs touch
  ./configure "$quiet" "$@"
  export UNITS=$units
}
keep_going() { make -k -j2 "CC=$CC" ACLOCAL=: AUTOMAKE=: AUTOCONF=: AUTOHEADER=: MAKEINFO=: "$@" || true; }

case $package in
  zlib) ./configure --static && UNITS=$units keep_going libz.a minigzip.o example.o ;;
  cjson) UNITS=$units keep_going ;;
  lz4) export UNITS=$units && keep_going -C lib liblz4.a && keep_going -C programs ;;
  expat) cd expat && mkdir -p m4 && autotools --without-docbook --without-xmlwf && keep_going ;;
  openssh) autotools --without-pam && keep_going ;;
  indent) autotools && keep_going -C src ;;
  busybox)
    make defconfig
    sed -i 's/^CONFIG_TC=y/CONFIG_TC=n/' .config
    UNITS=$units keep_going SKIP_STRIP=y busybox_unstripped ;;
  make-dfsg) touch ChangeLog && autotools && keep_going ;;
  privoxy) autoheader && autoconf && autotools && keep_going ;;
  *) autotools && keep_going ;;
esac
touch "$units/.done"
